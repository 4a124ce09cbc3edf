//! `agon scramble`: a script as the competitions gave it to solvers.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agon_compete::smt_header;
use agon_edition::Edition;
use agon_edition::model::Track;
use agon_scramble::{Annotations, Core, Error, Files, Mode, Options};
use anyhow::{Context as _, anyhow, bail};

use crate::Outcome;
use crate::args::ScrambleArgs;
use crate::edition::{open, plain};
use crate::known::Plugins;
use crate::print;

pub fn run(args: &ScrambleArgs) -> anyhow::Result<Outcome> {
    let file = args.file.display();
    let kind = std::fs::metadata(&args.file)
        .map_err(|e| anyhow!("{file} cannot be opened: {e}; give the path of an SMT-LIB script"))?;
    if !kind.is_file() {
        bail!("{file} is no regular file; give the path of an SMT-LIB script");
    }
    let Some(options) = options(args)? else {
        bail!("the edition does not scramble the benchmarks of this track or division; give a mode with --mode");
    };
    if let Some(conflict) = options.conflict() {
        bail!("{conflict}");
    }
    if args.check {
        return crate::scramble_check::run(args, &options);
    }
    let mut out = Stdout { stdout: io::stdout().lock(), gone: false };
    let result = if options.mode == Mode::Unfold {
        if args.prefix.is_empty() || args.prefix.ends_with('/') {
            bail!("--prefix {}: it is the beginning of file names; write one, such as queries/q", args.prefix);
        }
        let mut files = Unfolded(None);
        agon_scramble::unfold(args.file.as_path(), &options, &args.prefix, &mut files, &mut out).map(|()| None)
    } else {
        agon_scramble::scramble(args.file.as_path(), &options, &mut out)
    };
    match result {
        Ok(said) => {
            if let Some(said) = said {
                print::err(&format!("{said}\n"));
            }
            Ok(Outcome::Done)
        }
        Err(Error::Refused(refusal)) => {
            print::err(&format!("{}\n", refusal.message));
            if args.explain {
                print::err(&format!(
                    "{file}, line {}, column {}: here the official scrambler refuses the script. It takes the commands that \
                     the rules of the competition allow, with the grammar of its years; correct the script, or see --help \
                     for what else it can accept.\n",
                    refusal.line, refusal.column
                ));
            }
            Ok(Outcome::Short)
        }
        Err(Error::Beyond(refusal)) => {
            bail!("{file}, line {}, column {}: {}; correct the script", refusal.line, refusal.column, refusal.message)
        }
        Err(error) => Err(anyhow!("{file}: {error}")),
    }
}

/// What the arguments ask for; none if an edition does not scramble.
fn options(args: &ScrambleArgs) -> anyhow::Result<Option<Options>> {
    let mut options = match (&args.edition, &args.track) {
        (Some(edition), Some(track)) => {
            let (edition, _) = open(edition, plain(args.reading), &Plugins::new(&args.places))?;
            match of_edition(&edition, track, args)? {
                Some(options) => options,
                None => return Ok(None),
            }
        }
        _ => {
            let word = args.mode.as_deref().unwrap_or_default();
            let known = Mode::ALL.map(|(word, _)| word);
            let mode = Mode::from_word(word)
                .ok_or_else(|| anyhow!("there is no mode `{word}`; the modes are {}", known.join(", ")))?;
            Options::new(mode, args.seed)
        }
    };
    if let Some(annotations) = args.annotations.as_deref().and_then(Annotations::from_word) {
        options.annotations = annotations;
    }
    options.count_asserts = args.count_asserts;
    options.non_smtcomp = args.support_non_smtcomp;
    options.z3 = args.support_z3;
    options.scramble_named = args.scramble_named;
    options.lift_named = args.lift_named;
    if let Some(path) = &args.core {
        let mut file = std::fs::File::open(path).map_err(|e| anyhow!("{} cannot be opened: {e}", path.display()))?;
        let core = Core::read(&mut file).with_context(|| format!("{} cannot be read", path.display()))?;
        let core = core.ok_or_else(|| {
            anyhow!("{} is no core; it begins with `unsat`, and names in parentheses follow", path.display())
        })?;
        options.core = Some(core);
    }
    if let Some(queries) = &args.queries {
        options.queries = range(queries)?;
    }
    Ok(Some(options))
}

fn of_edition(edition: &Edition, name: &str, args: &ScrambleArgs) -> anyhow::Result<Option<Options>> {
    let track = crate::compete::track_of(edition, name)?;
    let division = match &args.division {
        Some(division) if track.divisions.contains_key(division) => Some(division.clone()),
        Some(unknown) => {
            let known: Vec<&str> = track.divisions.keys().map(String::as_str).collect();
            bail!("the track {name} has no division `{unknown}` (it has: {})", known.join(", "));
        }
        None => division_of(track, &args.file)?,
    };
    Ok(track.scrambling(division.as_deref()).map(|scrambling| scrambling.options(args.seed)))
}

/// The division of a script's logic, if divisions are scrambled in different ways.
fn division_of(track: &Track, file: &Path) -> anyhow::Result<Option<String>> {
    if track.divisions.values().all(|division| division.scramble.is_none()) {
        return Ok(None);
    }
    let input = std::fs::File::open(file).with_context(|| format!("{} cannot be opened", file.display()))?;
    let header =
        smt_header::read(io::BufReader::new(input)).with_context(|| format!("{} cannot be read", file.display()))?;
    let logic = header.logic.unwrap_or_default();
    let found = track.divisions.iter().find(|(_, division)| division.logics.contains(&logic));
    let (name, _) = found.ok_or_else(|| {
        anyhow!(
            "{}: its logic {logic} is in no division of the track {}, whose divisions are scrambled in different ways; \
             give one with --division",
            file.display(),
            track.name
        )
    })?;
    Ok(Some(name.clone()))
}

/// `3-5`, `3-` or `3`.
fn range(text: &str) -> anyhow::Result<(u64, Option<u64>)> {
    let bad = || anyhow!("--queries {text}: write the first and the last, such as 3-5, 3- or 3");
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let from: u64 = from.trim().parse().map_err(|_| bad())?;
    let to = match to.trim() {
        "" => None,
        to => Some(to.parse::<u64>().map_err(|_| bad())?),
    };
    Ok((from, to))
}

/// Standard output. A reader that went away is a normal end.
struct Stdout<'a> {
    stdout: io::StdoutLock<'a>,
    gone: bool,
}

impl Write for Stdout<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.gone {
            return Ok(text.len());
        }
        match self.stdout.write(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(text.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.stdout.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// The files of an unfolded script, each put into its place when it is complete.
struct Unfolded(Option<tempfile::NamedTempFile>);

impl Files for Unfolded {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        let path = PathBuf::from(name);
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().permissions(readable()).tempfile_in(folder)?;
        let handle = file.reopen()?;
        self.0 = Some(file);
        Ok(Box::new(handle))
    }

    fn finish(&mut self, name: &str) -> io::Result<()> {
        match self.0.take() {
            Some(file) => file.persist(name).map(|_| ()).map_err(|e| e.error),
            None => Ok(()),
        }
    }
}

/// Others may read what is made, as far as the user's mask allows.
fn readable() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}
