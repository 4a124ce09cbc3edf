//! From bytes to rows and fields, in blocks.
//!
//! A block that holds no quote is split where it lies: one pass finds all delimiters and line ends. Any other block
//! is first rewritten into a buffer with the quotes taken off, and from there on looks the same. Only the rows of one
//! block are ever in memory.

use memchr::{memchr, memchr_iter, memchr2, memchr2_iter, memrchr};

use crate::error::{ErrorKind, ResultsError};
use crate::input::Input;

/// How much text is read at a time: small enough to stay in a processor's cache while every column passes over it.
const BLOCK: usize = 256 << 10;
/// The longest row.
pub(crate) const LONGEST: usize = 1 << 20;

/// Some complete rows: text, and where the fields in it end.
#[derive(Default)]
pub(crate) struct Batch {
    /// The text of the rows if they had to be rewritten.
    text: Vec<u8>,
    /// The ends of fields. Field `k` lies between the end `k` and the end `k + 1`, without the byte that ends it;
    /// the first entry stands for the byte before the text.
    ends: Vec<u32>,
    /// How many fields each row has.
    fields: usize,
    /// How many rows.
    pub rows: usize,
    /// The line of the file on which each row begins, where that is not one line a row.
    lines: Vec<u64>,
    first_line: u64,
    /// Whether the last field of a row is followed by CR LF.
    crlf: bool,
    rewritten: bool,
    /// What is wrong with the text after these rows.
    error: Option<(u64, ErrorKind)>,
}

impl Batch {
    /// The line on which a row of this batch begins.
    pub fn line(&self, row: usize) -> u64 {
        self.lines.get(row).copied().unwrap_or(self.first_line + row as u64)
    }
}

/// Rows that did not come from text, in the same form.
pub(crate) struct Made {
    text: Vec<u8>,
    batch: Batch,
}

impl Made {
    /// For rows of this many fields, the first of which is row `first`.
    pub fn new(fields: usize, first: u64) -> Self {
        let batch = Batch { ends: vec![u32::MAX], fields, first_line: first, ..Batch::default() };
        Self { text: Vec::new(), batch }
    }

    /// Appends a field.
    pub fn field(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.batch.ends.push(self.text.len() as u32);
        self.text.push(b',');
        self.batch.rows = (self.batch.ends.len() - 1) / self.batch.fields;
    }

    /// How much text there is.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// The rows.
    pub fn rows(&self) -> Rows<'_> {
        Rows { text: &self.text, batch: &self.batch }
    }
}

/// A batch with its text.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'b> {
    text: &'b [u8],
    batch: &'b Batch,
}

impl<'b> Rows<'b> {
    /// How many rows.
    pub fn count(&self) -> usize {
        self.batch.rows
    }

    /// The line on which a row begins.
    pub fn line(&self, row: usize) -> u64 {
        self.batch.line(row)
    }

    /// Whether every row is one line.
    pub fn one_line_each(&self) -> bool {
        self.batch.lines.is_empty()
    }

    /// The texts of a column, in the order of the rows.
    #[inline]
    pub fn column(&self, at: usize) -> impl Iterator<Item = &'b [u8]> + 'b {
        let text = self.text;
        let back = usize::from(self.batch.crlf && at + 1 == self.batch.fields);
        // The pair of ends around this column in every row.
        self.batch.ends[at..].chunks(self.batch.fields).take(self.batch.rows).map({
            let ends = &self.batch.ends[at + 1..];
            let fields = self.batch.fields;
            let mut next = 0;
            move |chunk| {
                let start = chunk[0].wrapping_add(1) as usize;
                let end = ends[next] as usize - back;
                next += fields;
                &text[start..end]
            }
        })
    }
}

/// Reads the rows of one stream.
pub(crate) struct Splitter<'i, 'a> {
    pub input: &'i mut Input<'a>,
    delimiter: u8,
    /// How many fields a row has, once that is known.
    fields: Option<usize>,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    line: u64,
    crlf: Option<bool>,
    batch: Batch,
}

impl<'i, 'a> Splitter<'i, 'a> {
    /// Over a stream.
    pub fn new(input: &'i mut Input<'a>) -> Self {
        Self {
            input,
            delimiter: b',',
            fields: None,
            buf: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
            line: 1,
            crlf: None,
            batch: Batch::default(),
        }
    }

    fn error(&self, line: u64, kind: ErrorKind) -> ResultsError {
        self.input.error(kind).at(line)
    }

    /// Reads more: moves what is left to the front and fills a block behind it.
    fn more(&mut self) -> Result<(), ResultsError> {
        let first = self.buf.is_empty();
        self.buf.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // Two spare bytes, for the line end that the last line may lack.
        if self.buf.len() < self.end + BLOCK + 2 {
            self.buf.resize(self.end + BLOCK + 2, 0);
        }
        let n = self.input.fill(&mut self.buf[self.end..self.end + BLOCK])?;
        self.end += n;
        self.ended = n < BLOCK;
        if first && self.buf[..self.end].starts_with(b"\xef\xbb\xbf") {
            self.start = 3;
        }
        if self.crlf.is_none() {
            // The first line feed outside quotes: an even number of quotes lies before it.
            let text = &self.buf[self.start..self.end];
            let mut inside = false;
            let end = memchr2_iter(b'\n', b'"', text).find(|&at| {
                inside ^= text[at] == b'"';
                text[at] == b'\n' && !inside
            });
            self.crlf = end.map(|at| at > 0 && text[at - 1] == b'\r');
        }
        if self.ended && self.start < self.end {
            if self.buf[self.end - 1] != b'\n' {
                self.input.open_end = true;
                if self.crlf == Some(true) {
                    self.buf[self.end] = b'\r';
                    self.end += 1;
                }
                self.buf[self.end] = b'\n';
                self.end += 1;
                self.crlf.get_or_insert(false);
            }
            // A blank line at the very end is no row, whatever the number of columns.
            let blank: &[u8] = if self.crlf == Some(true) { b"\r\n\r\n" } else { b"\n\n" };
            if self.buf[self.start..self.end].ends_with(blank) {
                self.end -= blank.len() / 2;
            } else if self.start > 0 || self.line > 1 {
                // The line before may have been in the block before.
                let whole = &self.buf[self.start..self.end];
                if whole == b"\n" || whole == b"\r\n" {
                    self.end = self.start;
                }
            }
        }
        Ok(())
    }

    /// The first line, as fields; it is not consumed. `delimiter` decides how it is split.
    pub fn first_line(&mut self, delimiter: u8) -> Result<Vec<String>, ResultsError> {
        if self.buf.is_empty() {
            self.more()?;
        }
        if self.start == self.end {
            return Err(self.input.error(ErrorKind::Empty));
        }
        loop {
            // The header is split like any row, from a copy.
            let text = &self.buf[self.start..self.end];
            match first_record(text, delimiter) {
                Ok((fields, _)) => {
                    let mut names = Vec::with_capacity(fields.len());
                    for field in fields {
                        if memchr(0, &field).is_some() {
                            return Err(self.error(1, ErrorKind::Nul));
                        }
                        names.push(String::from_utf8(field).map_err(|_| self.error(1, ErrorKind::NotUtf8))?);
                    }
                    return Ok(names);
                }
                Err(Some(what)) => return Err(self.error(1, ErrorKind::Quotes(what))),
                Err(None) if text.len() > LONGEST => {
                    return Err(self.error(1, ErrorKind::LongLine { limit: LONGEST }));
                }
                Err(None) if self.ended => {
                    return Err(self.error(1, ErrorKind::Quotes("a quoted field is not closed")));
                }
                Err(None) => self.more()?,
            }
        }
    }

    /// Settles how rows are split, and skips the first one if it is a header.
    pub fn begin(&mut self, delimiter: u8, fields: usize, skip_first: bool) {
        self.delimiter = delimiter;
        self.fields = Some(fields);
        if skip_first && let Ok((_, length)) = first_record(&self.buf[self.start..self.end], delimiter) {
            let record = &self.buf[self.start..self.start + length];
            self.line += memchr_iter(b'\n', record).count() as u64;
            self.start += length;
        }
    }

    /// The next rows, or `None` at the end.
    pub fn next_rows(&mut self) -> Result<Option<Rows<'_>>, ResultsError> {
        if let Some((line, kind)) = self.batch.error.take() {
            return Err(self.error(line, kind));
        }
        loop {
            if self.start == self.end {
                if self.ended {
                    return Ok(None);
                }
                self.more()?;
                continue;
            }
            let taken = self.split();
            if taken > 0 {
                let text = self.start..self.start + taken;
                self.start += taken;
                if self.batch.rows == 0 {
                    return match self.batch.error.take() {
                        Some((line, kind)) => Err(self.error(line, kind)),
                        None => Ok(None),
                    };
                }
                let text = if self.batch.rewritten { &self.batch.text[..] } else { &self.buf[text] };
                return Ok(Some(Rows { text, batch: &self.batch }));
            }
            if self.end - self.start > LONGEST {
                return Err(self.error(self.line, ErrorKind::LongLine { limit: LONGEST }));
            }
            if self.ended {
                return Err(self.error(self.line, ErrorKind::Quotes("a quoted field is not closed")));
            }
            self.more()?;
        }
    }

    /// Splits the complete rows of the buffer; returns how many bytes they take. None, if there is no complete row.
    fn split(&mut self) -> usize {
        let all = &self.buf[self.start..self.end];
        let Some(last) = memrchr(b'\n', all) else { return 0 };
        let mut text = &all[..=last];
        if !self.ended && (text.ends_with(b"\n\n") || text.ends_with(b"\r\n\r\n") || text == b"\n" || text == b"\r\n") {
            // Whether this blank line is the last one of the file is not known yet.
            let back = if text.ends_with(b"\r\n") { 2 } else { 1 };
            text = &text[..text.len() - back];
            if text.is_empty() {
                return 0;
            }
        }
        let (length, quoted) = (text.len(), memchr(b'"', text).is_some());
        let batch = &mut self.batch;
        batch.ends.clear();
        batch.lines.clear();
        batch.fields = self.fields.unwrap_or(1);
        batch.rows = 0;
        batch.first_line = self.line;
        batch.error = None;
        batch.crlf = self.crlf == Some(true);
        batch.rewritten = false;
        let taken = if quoted {
            self.split_quoted()
        } else {
            self.split_plain(length);
            length
        };
        if self.batch.error.is_none() {
            let line = self.batch.first_line;
            self.line = match self.batch.lines.last() {
                Some(_) => self.line,
                None => line + self.batch.rows as u64,
            };
        }
        taken
    }

    /// Splits text without quotes.
    fn split_plain(&mut self, length: usize) {
        let batch = &mut self.batch;
        let mut text = &self.buf[self.start..self.start + length];
        let crlf = batch.crlf;
        // Bytes that may not occur cut the text before the line in which they do.
        if let Some((at, kind)) = bad_byte(text, crlf) {
            let before = memrchr(b'\n', &text[..at]).map_or(0, |p| p + 1);
            let line = batch.first_line + memchr_iter(b'\n', &text[..before]).count() as u64;
            batch.error = Some((line, kind));
            text = &text[..before];
        }
        batch.ends.push(u32::MAX);
        let bad_row = separators(text, self.delimiter, batch.fields, &mut batch.ends);
        batch.rows = (batch.ends.len() - 1) / batch.fields;
        if let Some(found) = bad_row {
            let line = batch.first_line + batch.rows as u64;
            let start = batch.ends[batch.rows * batch.fields].wrapping_add(1) as usize;
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |p| start + p);
            let kind = if end - start > LONGEST {
                ErrorKind::LongLine { limit: LONGEST }
            } else {
                ErrorKind::FieldCount { found, expected: batch.fields }
            };
            batch.error = Some((line, kind));
        }
        if text.len() > LONGEST {
            // Only a buffer that grew beyond the limit can hold such a line.
            let fields = batch.fields;
            let long = (0..batch.rows).find(|row| {
                let start = batch.ends[row * fields].wrapping_add(1);
                (batch.ends[(row + 1) * fields] - start) as usize > LONGEST
            });
            if let Some(row) = long {
                batch.rows = row;
                batch.error = Some((batch.first_line + row as u64, ErrorKind::LongLine { limit: LONGEST }));
            }
        }
    }

    /// Takes the quotes off all complete rows; returns how many bytes these take.
    fn split_quoted(&mut self) -> usize {
        let batch = &mut self.batch;
        let text = &self.buf[self.start..self.end];
        let crlf = batch.crlf;
        batch.rewritten = true;
        batch.crlf = false;
        batch.text.clear();
        batch.ends.push(u32::MAX);
        let mut line = batch.first_line;
        let mut at = 0;
        while at < text.len() {
            let row_start = at;
            let ends_before = batch.ends.len();
            let text_before = batch.text.len();
            let outcome = record(text, &mut at, self.delimiter, Some(crlf), &mut batch.text, &mut batch.ends);
            let length = at - row_start;
            let found = batch.ends.len() - ends_before;
            let error = match outcome {
                Err(None) => {
                    // Incomplete: it stays in the buffer.
                    batch.ends.truncate(ends_before);
                    batch.text.truncate(text_before);
                    at = row_start;
                    break;
                }
                Err(Some(kind)) => Some(kind),
                Ok(()) if length > LONGEST + 2 => Some(ErrorKind::LongLine { limit: LONGEST }),
                Ok(()) => {
                    let row = &text[row_start..at];
                    let blank = row == b"\n" || row == b"\r\n";
                    if blank && !self.ended && at == text.len() {
                        batch.ends.truncate(ends_before);
                        batch.text.truncate(text_before);
                        at = row_start;
                        break;
                    }
                    match bad_text(row) {
                        Some(kind) => Some(kind),
                        None if found != batch.fields => Some(ErrorKind::FieldCount { found, expected: batch.fields }),
                        None => None,
                    }
                }
            };
            if let Some(kind) = error {
                batch.ends.truncate(ends_before);
                batch.text.truncate(text_before);
                batch.error = Some((line, kind));
                at = text.len();
                break;
            }
            batch.lines.push(line);
            batch.rows += 1;
            line += memchr_iter(b'\n', &text[row_start..at]).count() as u64;
        }
        self.line = line;
        if batch.error.is_some() { at.max(1) } else { at }
    }
}

/// The first byte of the text that may not occur in it, if any. The text is a number of whole lines.
fn bad_byte(text: &[u8], crlf: bool) -> Option<(usize, ErrorKind)> {
    let mut worst: Option<(usize, ErrorKind)> = None;
    let mut note = |at: usize, kind: ErrorKind| {
        if worst.as_ref().is_none_or(|(first, _)| at < *first) {
            worst = Some((at, kind));
        }
    };
    if crlf {
        if let Some(at) = memchr(0, text) {
            note(at, ErrorKind::Nul);
        }
        if let Some(at) = memchr_iter(b'\n', text).find(|&at| at == 0 || text[at - 1] != b'\r') {
            note(at, ErrorKind::MixedLineEnds);
        }
        if let Some(at) = memchr_iter(b'\r', text).find(|&at| text.get(at + 1) != Some(&b'\n')) {
            note(at, ErrorKind::StrayReturn);
        }
    } else if let Some(at) = memchr2(0, b'\r', text) {
        note(
            at,
            match text[at] {
                0 => ErrorKind::Nul,
                _ if text.get(at + 1) == Some(&b'\n') => ErrorKind::MixedLineEnds,
                _ => ErrorKind::StrayReturn,
            },
        );
    }
    if !text.is_ascii()
        && let Err(e) = std::str::from_utf8(text)
    {
        note(e.valid_up_to(), ErrorKind::NotUtf8);
    }
    worst
}

/// The same for the text of one record, in which line ends were looked at already.
fn bad_text(row: &[u8]) -> Option<ErrorKind> {
    if memchr(0, row).is_some() {
        return Some(ErrorKind::Nul);
    }
    std::str::from_utf8(row).is_err().then_some(ErrorKind::NotUtf8)
}

/// A bit for each byte that is a delimiter or a line feed, and one for each that is a line feed. Written so that the
/// compiler makes vector comparisons of it: a comparison of every byte, then a product that gathers eight of the
/// results into a byte.
#[inline(always)]
fn masks(bytes: &[u8; 64], delimiter: u8) -> (u64, u64) {
    let (mut both, mut lines) = ([0u8; 64], [0u8; 64]);
    for at in 0..64 {
        lines[at] = u8::from(bytes[at] == b'\n');
        both[at] = u8::from(bytes[at] == delimiter) | lines[at];
    }
    (gather(&both), gather(&lines))
}

/// One bit for each byte, all of which are 0 or 1.
#[inline(always)]
fn gather(flags: &[u8; 64]) -> u64 {
    let (words, _) = flags.as_chunks::<8>();
    let mut bits = 0;
    for (at, word) in words.iter().enumerate() {
        // Byte number i is moved to bit 56 + i.
        bits |= (u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (at * 8);
    }
    bits
}

/// Appends the positions of all delimiters and line feeds of whole lines. Stops at the first row that has not `fields`
/// fields, drops its positions, and returns how many it has.
fn separators(text: &[u8], delimiter: u8, fields: usize, ends: &mut Vec<u32>) -> Option<usize> {
    let first = ends.len();
    // The row that is being read began at this entry.
    let mut row = first;
    let mut wrong = false;
    let mut base = 0u32;
    let (blocks, rest) = text.as_chunks::<64>();
    let mut last = [0u8; 64];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter().chain(std::iter::once(&last)) {
        let (all, lines) = masks(block, delimiter);
        let mut both = all;
        let count = both.count_ones() as usize;
        let at = ends.len();
        // A slice of known length makes the inner loop free of growth checks.
        ends.resize(at + count, 0);
        for slot in &mut ends[at..] {
            *slot = base + both.trailing_zeros();
            both &= both - 1;
        }
        let mut left = lines;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            // How many separators lie before this line feed, itself included.
            let upto = at + (all & (u64::MAX >> (63 - bit))).count_ones() as usize;
            if upto - row != fields {
                wrong = true;
                break;
            }
            row = upto;
        }
        if wrong {
            break;
        }
        base += 64;
    }
    if !wrong {
        ends.truncate(row);
        return None;
    }
    ends.truncate(row);
    let start = if row == first { 0 } else { ends[row - 1] as usize + 1 };
    let end = memchr(b'\n', &text[start..]).map_or(text.len(), |p| start + p);
    Some(memchr_iter(delimiter, &text[start..end]).count() + 1)
}

/// Reads one record from `at` on, without its quotes, into `out`, with the ends of its fields. `Err(None)` means that
/// the text ends before the record does.
fn record(
    text: &[u8],
    at: &mut usize,
    delimiter: u8,
    crlf: Option<bool>,
    out: &mut Vec<u8>,
    ends: &mut Vec<u32>,
) -> Result<(), Option<ErrorKind>> {
    loop {
        // At the start of a field.
        if text.get(*at) == Some(&b'"') {
            *at += 1;
            loop {
                let rest = &text[*at..];
                let Some(quote) = memchr(b'"', rest) else { return Err(None) };
                out.extend_from_slice(&rest[..quote]);
                *at += quote + 1;
                match text.get(*at) {
                    Some(b'"') => {
                        out.push(b'"');
                        *at += 1;
                    }
                    Some(_) => break,
                    None => return Err(None),
                }
            }
        } else {
            let rest = &text[*at..];
            let Some(end) = rest.iter().position(|&b| b == delimiter || matches!(b, b'\n' | b'\r' | b'"')) else {
                return Err(None);
            };
            if rest[end] == b'"' {
                return Err(Some(ErrorKind::Quotes("a quote stands inside a field that is not quoted")));
            }
            out.extend_from_slice(&rest[..end]);
            *at += end;
        }
        // At the byte that ends the field.
        let Ok(end) = u32::try_from(out.len()) else { return Err(Some(ErrorKind::LongLine { limit: LONGEST })) };
        match text[*at] {
            b if b == delimiter => {
                out.push(delimiter);
                ends.push(end);
                *at += 1;
            }
            b'\n' => {
                if crlf == Some(true) {
                    return Err(Some(ErrorKind::MixedLineEnds));
                }
                out.push(b'\n');
                ends.push(end);
                *at += 1;
                return Ok(());
            }
            b'\r' => match text.get(*at + 1) {
                None => return Err(None),
                Some(b'\n') if crlf != Some(false) => {
                    out.push(b'\n');
                    ends.push(end);
                    *at += 2;
                    return Ok(());
                }
                Some(b'\n') => return Err(Some(ErrorKind::MixedLineEnds)),
                Some(_) => return Err(Some(ErrorKind::StrayReturn)),
            },
            _ => return Err(Some(ErrorKind::Quotes("something follows the closing quote of a field"))),
        }
    }
}

/// The fields of the first record and its length, line end included. `Err(None)` if it is not complete.
#[allow(clippy::type_complexity)]
fn first_record(text: &[u8], delimiter: u8) -> Result<(Vec<Vec<u8>>, usize), Option<&'static str>> {
    let (mut out, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
    match record(text, &mut at, delimiter, None, &mut out, &mut ends) {
        Ok(()) => {}
        Err(Some(ErrorKind::Quotes(what))) => return Err(Some(what)),
        Err(Some(_)) => return Err(Some("a carriage return stands inside the first line")),
        Err(None) => return Err(None),
    }
    let mut start = 0;
    let mut fields = Vec::with_capacity(ends.len());
    for end in ends {
        fields.push(out[start..end as usize].to_vec());
        start = end as usize + 1;
    }
    Ok((fields, at))
}
