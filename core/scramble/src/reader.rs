//! What the grammars of the two scramblers have in common: tokens in, commands kept, text out.

use std::io::{self, Write};

use crate::chunked::Chunked;
use crate::lexer::{Dialect, Lexer, Stop, Token};
use crate::random::Random;
use crate::source::Source;
use crate::symbols::{Symbol, Symbols, TooMany};
use crate::tree::{Ref, Shape, Stack, Tree};

/// Text on its way out.
pub(crate) struct Out<'a> {
    to: &'a mut dyn Write,
    /// A file that is written for the time being.
    file: Option<Box<dyn Write>>,
    buffer: Vec<u8>,
}

const FULL: usize = 1 << 16;

impl<'a> Out<'a> {
    pub(crate) fn new(to: &'a mut dyn Write) -> Self {
        Self { to, file: None, buffer: Vec::with_capacity(FULL + 64) }
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.buffer.extend_from_slice(text);
    }

    /// A letter and a number.
    pub(crate) fn numbered(&mut self, letter: u8, mut number: u32) {
        let mut digits = [0; 11];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        at -= 1;
        digits[at] = letter;
        self.text(&digits[at..]);
    }

    /// Passes on what there is, if it is much.
    #[inline]
    pub(crate) fn pass(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FULL { self.drain() } else { Ok(()) }
    }

    pub(crate) fn drain(&mut self) -> io::Result<()> {
        let result = match &mut self.file {
            Some(file) => file.write_all(&self.buffer),
            None => self.to.write_all(&self.buffer),
        };
        self.buffer.clear();
        self.buffer.shrink_to(FULL + 64);
        result
    }
}

impl Out<'_> {
    /// From here on, text goes to a file, or no longer.
    pub(crate) fn redirect(&mut self, file: Option<Box<dyn Write>>) -> io::Result<()> {
        self.drain()?;
        if let Some(mut old) = std::mem::replace(&mut self.file, file) {
            old.flush()?;
        }
        Ok(())
    }
}

impl Write for Out<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.text(text);
        self.pass()?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.to.flush()
    }
}

/// Why reading ends before the script does.
#[derive(Debug)]
pub(crate) enum Halt {
    /// What the official tool says before it exits with 1.
    Refused(String),
    /// What it cannot do, or what its authors did not think of: a sentence of ours.
    Beyond(String),
    Stop(Stop),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<TooMany> for Halt {
    fn from(_: TooMany) -> Self {
        Self::Stop(Stop::TooMany)
    }
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Stop(Stop::Write(error))
    }
}

impl Halt {
    pub(crate) fn refused(message: &str) -> Self {
        Self::Refused(message.to_string())
    }

    pub(crate) fn syntax() -> Self {
        Self::refused("ERROR: syntax error")
    }
}

/// What a place at the top of a script holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// A command, which was read.
    Command,
    /// A token that begins none. The official tools pass over it.
    Stray(Token),
}

/// The state of a reader.
pub(crate) struct Reader<'a> {
    pub(crate) lexer: Lexer<'a>,
    pub(crate) out: Out<'a>,
    pub(crate) tree: Tree,
    /// The commands that were not printed yet.
    pub(crate) commands: Chunked<u32>,
    /// Parts of what is not complete. A frame begins with a word that has its kind and where the frame around it begins.
    pub(crate) stack: Stack,
    /// The random numbers; none if nothing is scrambled.
    pub(crate) random: Option<Random>,
    frame: u32,
    /// The stack of what is being printed.
    pub(crate) printing: Stack,
}

/// No frame.
const NONE: u32 = (1 << KIND_SHIFT) - 1;
const KIND_SHIFT: u32 = 28;

impl<'a> Reader<'a> {
    pub(crate) fn new(source: Source<'a>, out: &'a mut dyn Write, words: &[&str], dialect: Dialect, seed: u32) -> Self {
        Self {
            lexer: Lexer::new(source, Symbols::new(words), dialect),
            out: Out::new(out),
            tree: Tree::new(),
            commands: Chunked::default(),
            stack: Stack::default(),
            random: (seed != 0).then(|| Random::new(seed)),
            frame: NONE,
            printing: Stack::default(),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Result<Token, Halt> {
        Ok(self.lexer.next(&mut self.out)?)
    }

    pub(crate) fn expect(&mut self, token: Token) -> Result<(), Halt> {
        if self.next()? == token { Ok(()) } else { Err(Halt::syntax()) }
    }

    /// The word that the last token is.
    #[inline]
    pub(crate) fn word(&mut self) -> Result<Symbol, Halt> {
        Ok(self.lexer.symbol()?)
    }

    /// A symbol.
    pub(crate) fn symbol(&mut self) -> Result<Symbol, Halt> {
        self.expect(Token::Symbol)?;
        self.word()
    }

    /// A numeral.
    pub(crate) fn numeral(&mut self) -> Result<Symbol, Halt> {
        self.expect(Token::Numeral)?;
        self.word()
    }

    /// The numeral's value as C's `atoi` has it, which the official tools use.
    pub(crate) fn value(&self, numeral: Symbol) -> i32 {
        let mut value: i64 = 0;
        for digit in self.lexer.symbols.text(numeral) {
            value = value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
        }
        value as i32
    }

    /// Begins a frame.
    #[inline]
    pub(crate) fn begin(&mut self, kind: u32) -> Result<(), Halt> {
        let base = self.stack.len();
        if base >= NONE as usize {
            return Err(TooMany.into());
        }
        self.stack.push(kind << KIND_SHIFT | self.frame);
        self.frame = base as u32;
        Ok(())
    }

    /// The kind of the innermost frame and where its parts begin.
    #[inline]
    pub(crate) fn innermost(&self) -> Option<(u32, usize)> {
        if self.frame == NONE {
            return None;
        }
        let base = self.frame as usize;
        Some((self.stack[base] >> KIND_SHIFT, base + 1))
    }

    /// Makes the innermost frame one of another kind.
    pub(crate) fn become_kind(&mut self, kind: u32) {
        let base = self.frame as usize;
        self.stack[base] = self.stack[base] & NONE | kind << KIND_SHIFT;
    }

    /// Ends the innermost frame, whose parts were taken from the stack.
    #[inline]
    pub(crate) fn end(&mut self) {
        let base = self.frame as usize;
        self.frame = self.stack[base] & NONE;
        self.stack.truncate(base);
    }

    /// Ends the innermost frame with a node of all its parts.
    #[inline]
    pub(crate) fn close(&mut self, shape: Shape) -> Result<Ref, Halt> {
        let base = self.frame as usize;
        let node = self.tree.collect(shape, &mut self.stack, base + 1)?;
        self.end();
        Ok(node)
    }

    #[inline]
    pub(crate) fn push(&mut self, part: Ref) {
        self.stack.push(part.bits());
    }

    pub(crate) fn list(&mut self, parts: &[Ref]) -> Result<Ref, Halt> {
        Ok(self.tree.add(Shape::List, parts)?)
    }

    /// Shuffles what is on the stack from a place on.
    pub(crate) fn shuffle_stack(&mut self, from: usize) {
        let to = self.stack.len();
        shuffle(&mut self.random, &mut self.stack, from, to);
    }

    /// Shuffles every run of commands that begin with a word.
    pub(crate) fn shuffle_commands(&mut self, word: Ref) {
        let head = |reader: &Self, at: usize| match Ref::from_bits(reader.commands[at]).what() {
            crate::tree::What::Node(node) => reader.tree.first(node),
            _ => None,
        };
        let mut from = 0;
        while from < self.commands.len() {
            let mut to = from;
            while to < self.commands.len() && head(self, to) == Some(word) {
                to += 1;
            }
            if to - from > 1 {
                shuffle(&mut self.random, &mut self.commands, from, to);
            }
            from = to.max(from + 1);
        }
    }

    /// Forgets the commands, which were printed.
    pub(crate) fn clear(&mut self) {
        self.commands.truncate(0);
        self.tree.clear();
    }
}

/// Shuffles a part of a list; without random numbers, leaves it as it is. The part is not empty.
pub(crate) fn shuffle(random: &mut Option<Random>, list: &mut Chunked<u32>, from: usize, to: usize) {
    let Some(random) = random else { return };
    for last in (1..to - from).rev() {
        list.swap(from + last, from + random.below(last + 1));
    }
}
