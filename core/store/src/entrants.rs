//! The entrants file: who competes, in YAML.
//!
//! ```yaml
//! entrants:
//!   - name: Albatross
//!     team: Seabirds
//!     seed: 4711
//!     command: [./albatross/bin/albatross, --smt2]
//!     version: [./albatross/bin/albatross, --version]
//!     fields: { organiser: true }        # what the edition's entrant rules ask for
//!   - name: Bittern
//!     command: [bittern]                 # without a slash: searched in the PATH
//!     configurations:                    # each is an entrant: `Bittern (fast)`, `Bittern (careful)`
//!       fast: { arguments: [--fast] }
//!       careful: { arguments: [--check], competing: false }
//!     tracks:                            # takes part in these only
//!       single-query:
//!       unsat-core: { command: [bittern, --cores], configuration: fast, logics: [QF_BV, QF_UF] }
//! tools:                                 # what checks answers, by the role that the track's plugin asks for
//!   proof-checker: { name: checker, command: [./checker/bin/check, "{formula}", "{proof}"] }
//! ```
//!
//! `divisions` and `logics`, of a solver or of its track, say on what it is run; on everything if there are none.
//! `readable` names folders that its programs read besides their own. A program in a folder `bin` may read what lies
//! beside that folder, too.
//!
//! The command of an entrant in a track is the track's, else the configuration's, else the solver's, followed by the
//! configuration's arguments. A program with a slash in its name that is not absolute lies relative to the folder of the
//! file; no shell reads a command.

mod read;

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_edition::diag::{Diagnostic, Diagnostics, Source};
use agon_edition::node::{Place, parse};
use indexmap::IndexMap;

use self::read::{solvers, suggest, tools};

/// A larger file is no entrants file.
const MAX_BYTES: u64 = 8 << 20;

/// Why there is no list of entrants.
#[derive(Debug, thiserror::Error)]
pub enum EntrantsError {
    /// The file cannot be read.
    #[error("{path}: {cause}. {remedy}")]
    File {
        /// The file.
        path: String,
        /// Why.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The file has errors.
    #[error("{}", .0.iter().map(Diagnostic::line).collect::<Vec<_>>().join("\n"))]
    Invalid(Diagnostics),
}

/// The entrants file.
#[derive(Clone, Debug)]
pub struct Entrants {
    /// The file, as it was given.
    pub file: String,
    /// The folder that programs are relative to.
    pub folder: PathBuf,
    /// The solvers, in the order of the file.
    pub solvers: Vec<Solver>,
    /// What checks answers.
    pub tools: Vec<Tool>,
}

/// A program that checks answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What it is for; plugins ask for roles.
    pub role: String,
    /// Its name: that of the program unless the file says another.
    pub name: String,
    /// The command line, program first; `{NAME}` stands for the input of that name.
    pub command: Vec<String>,
    /// What it reads besides its own folder.
    pub readable: Vec<String>,
}

/// On which benchmarks a solver is run: all if nothing is said, else those of these divisions or logics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Divisions.
    pub divisions: Option<Vec<String>>,
    /// Logics.
    pub logics: Option<Vec<String>>,
}

impl Scope {
    /// Whether a benchmark of this division and logic is in it.
    pub fn includes(&self, division: Option<&str>, logic: Option<&str>) -> bool {
        let has = |list: &Option<Vec<String>>, name: Option<&str>| {
            list.as_ref().zip(name).is_some_and(|(list, name)| list.iter().any(|l| l == name))
        };
        (self.divisions.is_none() && self.logics.is_none())
            || has(&self.divisions, division)
            || has(&self.logics, logic)
    }
}

/// A solver.
#[derive(Clone, Debug)]
pub struct Solver {
    /// Its name, which no other solver has.
    pub name: String,
    /// The group of its authors.
    pub team: Option<String>,
    /// What it is, for people.
    pub description: Option<String>,
    /// Whether it can win.
    pub competing: bool,
    /// The number that was given for the competition's seed.
    pub seed: Option<i64>,
    /// The command line that prints its version.
    pub version: Option<Vec<String>>,
    /// What the edition wants to know, as texts by column.
    pub fields: IndexMap<String, String>,
    /// The command line, program first.
    pub command: Option<Vec<String>>,
    /// Its configurations; without any, the solver is one entrant.
    pub configurations: IndexMap<String, Configuration>,
    /// What its programs read besides their own folder.
    pub readable: Vec<String>,
    /// The tracks that it takes part in; `None`: in all.
    pub tracks: Option<IndexMap<String, Participation>>,
    /// On what it is run.
    pub scope: Scope,
    /// Where it stands.
    pub place: Place,
    field_places: Vec<(String, Place)>,
}

/// A configuration of a solver.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// What it is, for people.
    pub description: Option<String>,
    /// The command line, in place of the solver's.
    pub command: Option<Vec<String>>,
    /// What is added to the command line.
    pub arguments: Vec<String>,
    /// Whether it can win, if that is not as for the solver.
    pub competing: Option<bool>,
    /// What is different from the solver's fields, or said in addition.
    pub fields: IndexMap<String, String>,
}

/// How a solver takes part in a track.
#[derive(Clone, Debug)]
pub struct Participation {
    /// The command line, in place of all others.
    pub command: Option<Vec<String>>,
    /// The configurations that take part; empty: all.
    pub configurations: Vec<String>,
    /// On what it is run, in place of what is said for the solver.
    pub scope: Scope,
    /// Where the track's name stands.
    pub place: Place,
}

/// A solver with one configuration in a track.
#[derive(Clone, Debug)]
pub struct Entrant<'a> {
    /// What names it: the solver's name, and the configuration's in parentheses if the solver has any.
    pub id: String,
    /// The solver.
    pub solver: &'a Solver,
    /// The configuration's name.
    pub configuration: Option<&'a str>,
    /// Whether it can win.
    pub competing: bool,
    /// The command line, as it is in the file.
    pub command: Vec<String>,
    /// On what it is run.
    pub scope: &'a Scope,
    /// What the edition wants to know, as texts by column, with `team` and `seed` if they are given.
    pub fields: IndexMap<String, String>,
}

impl Entrants {
    /// Reads an entrants file.
    ///
    /// # Errors
    /// If it cannot be read or has errors; all of them are reported.
    pub fn read(path: &Path) -> Result<Self, EntrantsError> {
        let fail = |cause: String, remedy| EntrantsError::File { path: path.display().to_string(), cause, remedy };
        // A pipe may never begin and a device never end; both can be read once only.
        if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            let cause = "this is a pipe or a device, not a file".to_string();
            return Err(fail(cause, "Write its content to a file and give that."));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|e| fail(e.to_string(), "Give the path of a YAML file that lists the entrants."))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(fail(format!("the file has more than {MAX_BYTES} bytes"), "Is this the right file?"));
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            fail(format!("the text is not UTF-8 (byte {})", e.utf8_error().valid_up_to()), "Save the file as UTF-8.")
        })?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::parse(&path.display().to_string(), &text, folder)
    }

    /// Reads the text of an entrants file. `folder` is what its programs are relative to.
    ///
    /// # Errors
    /// If it has errors; all of them are reported.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Self, EntrantsError> {
        let source = Arc::new(Source::new(name, text.trim_start_matches('\u{feff}')));
        let mut out = Diagnostics::default();
        let tree = parse(&source, &mut out);
        let tools = tree.as_ref().map(|tree| tools(tree, &mut out)).unwrap_or_default();
        let solvers = tree.map(|tree| solvers(&tree, &mut out)).unwrap_or_default();
        out.sort();
        if out.has_errors() {
            return Err(EntrantsError::Invalid(out));
        }
        Ok(Self { file: name.into(), folder: folder.into(), solvers, tools })
    }

    /// Checks the names of tracks and fields against those of an edition.
    pub fn check(&self, tracks: &[&str], fields: &[&str]) -> Diagnostics {
        let mut out = Diagnostics::default();
        for solver in &self.solvers {
            for (name, participation) in solver.tracks.iter().flatten() {
                if !tracks.contains(&name.as_str()) {
                    let message = format!("the edition has no track `{name}`");
                    let help = suggest(name, tracks, "its tracks are");
                    out.push(Diagnostic::error("entrants/unknown-track", &participation.place, message).help(help));
                }
            }
            for (name, place) in &solver.field_places {
                if !fields.contains(&name.as_str()) {
                    let message = format!("the edition does not know the field `{name}` of an entrant");
                    let help = suggest(name, fields, "its fields are");
                    out.push(Diagnostic::error("entrants/unknown-field", place, message).help(help));
                }
            }
        }
        out.sort();
        out
    }

    /// The entrants of a track, in the order of the file.
    pub fn of_track(&self, track: &str) -> Vec<Entrant<'_>> {
        self.solvers.iter().flat_map(|solver| solver.entrants(Some(track))).collect()
    }

    /// The list as the scoring wants it: for each entrant a row with `entrant`, `solver`, `competing`, `team` and `seed`
    /// if they are given, and its fields. `keys` has each track with the column that names an entrant in its results;
    /// that column holds the entrant's name if it takes part.
    pub fn rows(&self, keys: &[(&str, &str)]) -> Vec<IndexMap<String, String>> {
        let mut rows = Vec::new();
        for entrant in self.solvers.iter().flat_map(|solver| solver.entrants(None)) {
            let mut row = entrant.row();
            for (track, key) in keys {
                let takes_part = || entrant.solver.entrants(Some(track)).iter().any(|e| e.id == entrant.id);
                if !row.contains_key(*key) && takes_part() {
                    row.insert((*key).to_string(), entrant.id.clone());
                }
            }
            rows.push(row);
        }
        rows
    }

    /// The list as the seed's formula wants it: one row for each solver, however many configurations it has, since a
    /// solver gives one number.
    pub fn seed_rows(&self) -> Vec<IndexMap<String, String>> {
        let row = |solver: &Solver| {
            let competing = solver.entrants(None).iter().any(|e| e.competing);
            Entrant {
                id: solver.name.clone(),
                solver,
                configuration: None,
                competing,
                command: Vec::new(),
                scope: &solver.scope,
                fields: solver.columns(None),
            }
            .row()
        };
        self.solvers.iter().map(row).collect()
    }

    /// The file of a program that a command names: relative to the entrants file if the name has a slash, else the first
    /// one in the folders of `path` (the value of `PATH`), of which relative ones are passed over.
    ///
    /// # Errors
    /// If there is none, or it cannot be run.
    pub fn program(&self, name: &str, path: Option<&OsStr>) -> Result<PathBuf, ProgramError> {
        let fail = |why: Why| ProgramError { name: name.into(), file: self.file.clone(), why };
        if name.contains('/') {
            let file = std::path::absolute(self.folder.join(name)).map_err(|e| fail(Why::Other(e.to_string())))?;
            return match can_run(&file) {
                Ok(()) => Ok(file),
                Err(why) => Err(fail(why)),
            };
        }
        let mut reason = Why::NotInPath;
        for folder in std::env::split_paths(path.unwrap_or_default()).filter(|f| f.is_absolute()) {
            let file = folder.join(name);
            match can_run(&file) {
                Ok(()) => return Ok(file),
                Err(Why::NotFound(_)) => {}
                Err(why) if matches!(reason, Why::NotInPath) => reason = why,
                Err(_) => {}
            }
        }
        Err(fail(reason))
    }
}

impl Solver {
    /// The solver's entrants in a track; `None`: all of them, with the command that they have outside any track.
    fn entrants(&self, track: Option<&str>) -> Vec<Entrant<'_>> {
        let part = match (track, &self.tracks) {
            (Some(track), Some(tracks)) => match tracks.get(track) {
                Some(part) => Some(part),
                None => return Vec::new(),
            },
            _ => None,
        };
        let scope = match part {
            Some(part) if part.scope != Scope::default() => &part.scope,
            _ => &self.scope,
        };
        let entrant = |configuration: Option<(&'_ String, &'_ Configuration)>| {
            let own = configuration.map(|(_, c)| c);
            let command = part
                .and_then(|p| p.command.as_ref())
                .or(own.and_then(|c| c.command.as_ref()))
                .or(self.command.as_ref());
            let mut command = command.cloned().unwrap_or_default();
            command.extend(own.iter().flat_map(|c| &c.arguments).cloned());
            (own.and_then(|c| c.competing).unwrap_or(self.competing), command, self.columns(own))
        };
        if self.configurations.is_empty() {
            let (competing, command, fields) = entrant(None);
            return vec![Entrant {
                id: self.name.clone(),
                solver: self,
                configuration: None,
                competing,
                command,
                scope,
                fields,
            }];
        }
        let wanted =
            |name: &String| part.is_none_or(|p| p.configurations.is_empty() || p.configurations.contains(name));
        let list = self.configurations.iter().filter(|(name, _)| wanted(name));
        list.map(|(name, configuration)| {
            let (competing, command, fields) = entrant(Some((name, configuration)));
            let id = format!("{} ({name})", self.name);
            Entrant { id, solver: self, configuration: Some(name), competing, command, scope, fields }
        })
        .collect()
    }

    fn columns(&self, configuration: Option<&Configuration>) -> IndexMap<String, String> {
        let mut columns = IndexMap::new();
        columns.extend(self.team.clone().map(|team| ("team".to_string(), team)));
        columns.extend(self.seed.map(|seed| ("seed".to_string(), seed.to_string())));
        columns.extend(self.fields.clone());
        columns.extend(configuration.into_iter().flat_map(|c| c.fields.clone()));
        columns
    }
}

impl Entrant<'_> {
    fn row(&self) -> IndexMap<String, String> {
        let mut row = IndexMap::new();
        row.insert("entrant".to_string(), self.id.clone());
        row.insert("solver".to_string(), self.id.clone());
        row.insert("competing".to_string(), self.competing.to_string());
        row.extend(self.fields.clone());
        row
    }
}

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: the program {name} {why}")]
pub struct ProgramError {
    /// What the command calls it.
    pub name: String,
    /// The entrants file.
    pub file: String,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// There is no such file.
    #[error(
        "does not exist: there is no file {}. Correct the path, which is relative to the folder of the entrants file, or \
         install the program there.", .0.display()
    )]
    NotFound(PathBuf),
    /// It is in no folder of the `PATH`.
    #[error(
        "is in no folder of the PATH. Install it, or write a path with a slash, which is relative to the folder of the \
         entrants file."
    )]
    NotInPath,
    /// It is no file.
    #[error("is not a file but a folder or device: {}. Give the path of the program itself.", .0.display())]
    NotAFile(PathBuf),
    /// Nobody may execute it.
    #[error("may not be executed: {}. Make it executable with `chmod +x`.", .0.display())]
    NotExecutable(PathBuf),
    /// The system refused.
    #[error("cannot be examined: {0}. Check the permissions of its folders.")]
    Other(String),
}

fn can_run(file: &Path) -> Result<(), Why> {
    let meta = match std::fs::metadata(file) {
        Ok(meta) => meta,
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Err(Why::NotFound(file.into()));
        }
        Err(e) => return Err(Why::Other(format!("{}: {e}", file.display()))),
    };
    if !meta.is_file() {
        return Err(Why::NotAFile(file.into()));
    }
    if meta.permissions().mode() & 0o111 == 0 {
        return Err(Why::NotExecutable(file.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
entrants:
  - name: Albatross
    team: Seabirds
    seed: 4711
    command: [./albatross/bin/albatross, --smt2]
    version: [./albatross/bin/albatross, --version]
    fields: { organiser: true, url: 'https://example.org' }
  - name: Bittern
    description: Booms
    command: [bittern]
    seed: 12
    configurations:
      fast: { arguments: [--fast, 3, ''] }
      careful: { arguments: [--check], competing: false, fields: { url: other } }
    tracks:
      single-query:
      unsat-core: { command: [bittern, --cores], configuration: fast }
  - name: Čejka
    competing: false
    tracks: { incremental: { command: [/opt/čejka, '-i'] } }
";

    fn read(text: &str) -> Result<Entrants, EntrantsError> {
        Entrants::parse("dir/entrants.yaml", text, Path::new("dir"))
    }

    fn ids(list: &[Entrant<'_>]) -> Vec<String> {
        list.iter().map(|e| e.id.clone()).collect()
    }

    #[test]
    fn who_takes_part_with_which_command() {
        let file = read(GOOD).unwrap();
        let list = file.of_track("single-query");
        assert_eq!(ids(&list), ["Albatross", "Bittern (fast)", "Bittern (careful)"]);
        assert_eq!(list[0].command, ["./albatross/bin/albatross", "--smt2"]);
        assert_eq!(list[1].command, ["bittern", "--fast", "3", ""]);
        assert!(list[1].competing && !list[2].competing);
        let list = file.of_track("unsat-core");
        assert_eq!(ids(&list), ["Albatross", "Bittern (fast)"]);
        assert_eq!(list[1].command, ["bittern", "--cores", "--fast", "3", ""]);
        let list = file.of_track("incremental");
        assert_eq!(ids(&list), ["Albatross", "Čejka"]);
        assert_eq!(list[1].command, ["/opt/čejka", "-i"]);
    }

    #[test]
    fn as_a_list_for_scores_and_seeds() {
        let file = read(GOOD).unwrap();
        let keys = [("single-query", "entrant"), ("unsat-core", "config_unsat_core")];
        let rows = file.rows(&keys);
        let names: Vec<&String> = rows.iter().map(|r| &r["solver"]).collect();
        assert_eq!(names, ["Albatross", "Bittern (fast)", "Bittern (careful)", "Čejka"]);
        assert_eq!(rows[0]["team"], "Seabirds");
        assert_eq!(rows[0]["organiser"], "true");
        assert_eq!(rows[0]["config_unsat_core"], "Albatross");
        assert_eq!(rows[1]["config_unsat_core"], "Bittern (fast)");
        assert_eq!(rows[2].get("config_unsat_core"), None);
        assert_eq!(rows[2]["url"], "other");
        assert_eq!(rows[3]["competing"], "false");
        let seeds: Vec<Option<String>> = file.seed_rows().iter().map(|r| r.get("seed").cloned()).collect();
        assert_eq!(seeds, [Some("4711".into()), Some("12".into()), None]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let one = "entrants:\n  - name: A\n    command: [a]\n";
        for (text, code, place, help) in [
            ("entrants: []\n", "entrants/empty", (1, 11), "- name"),
            ("entrant: []\n", "entrants/unknown-key", (1, 1), "did you mean `entrants`?"),
            ("- name: A\n", "entrants/type", (1, 1), "entrants"),
            ("entrants:\n  - command: [a]\n", "entrants/missing-key", (2, 5), "name"),
            ("entrants:\n  - name: ''\n    command: [a]\n", "entrants/empty", (2, 11), "write"),
            ("entrants:\n  - name: 'a '\n    command: [a]\n", "entrants/name", (2, 11), "one line"),
            ("entrants:\n  - name: A\n", "entrants/no-command", (2, 11), "add `command"),
            ("entrants:\n  - name: A\n    command: []\n", "entrants/command", (3, 14), "program first"),
            ("entrants:\n  - name: A\n    command: ['']\n", "entrants/command", (3, 14), "program first"),
            ("entrants:\n  - name: A\n    command: z3 -in\n", "entrants/command", (3, 14), "[z3, -in]"),
            ("entrants:\n  - name: A\n    command: [a, [b]]\n", "entrants/command", (3, 18), "text"),
            ("entrants:\n  - name: A\n    comand: [a]\n", "entrants/unknown-key", (3, 5), "did you mean `command`?"),
            (&format!("{one}    competing: yes\n"), "entrants/value", (4, 16), "write `true`"),
            (&format!("{one}    seed: -1\n"), "entrants/value", (4, 11), "4711"),
            (&format!("{one}    seed: many\n"), "entrants/value", (4, 11), "4711"),
            (&format!("{one}    licence: MIT\n"), "entrants/unknown-key", (4, 5), "`fields:`"),
            (&format!("{one}    fields: {{ team: B }}\n"), "entrants/reserved-field", (4, 15), "its own"),
            (&format!("{one}    fields: {{ b: [1] }}\n"), "entrants/type", (4, 18), "text"),
            (&format!("{one}    tracks: []\n"), "entrants/empty", (4, 13), "all"),
            (&format!("{one}    tracks: main\n"), "entrants/type", (4, 13), "all"),
            (&format!("{one}    tracks: {{ m: {{ cmd: [b] }} }}\n"), "entrants/unknown-key", (4, 20), "known keys"),
            (&format!("{one}  - name: A\n    command: [b]\n"), "entrants/duplicate-name", (4, 11), "line 2"),
            (
                &format!("{one}    configurations: {{ b: }}\n  - name: A (b)\n    command: [b]\n"),
                "entrants/duplicate-name",
                (5, 11),
                "line 2",
            ),
            (
                &format!("{one}    configurations: {{ fast: }}\n    tracks: {{ m: {{ configuration: fsat }} }}\n"),
                "entrants/unknown-configuration",
                (5, 35),
                "did you mean `fast`?",
            ),
            (
                &format!("{one}    configurations: {{ b: , c: {{ arguments: [x] }}, d: }}\n"),
                "entrants/same-command",
                (2, 11),
                "configuration",
            ),
            (&format!("{one}    command: [b]\n"), "yaml/duplicate-key", (4, 5), "line 3"),
            ("entrants: &a []\n", "yaml/anchor", (1, 11), "write"),
        ] {
            let Err(EntrantsError::Invalid(found)) = read(text) else { panic!("accepted:\n{text}") };
            let hit = found.iter().find(|d| d.code == code && d.source.line_column(d.span.start) == place);
            let hit = hit.unwrap_or_else(|| panic!("{code} is not at {place:?}\n{}", found.render(false)));
            assert!(hit.help.as_ref().is_some_and(|h| h.contains(help)), "{}", hit.line());
        }
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let text = "entrants:\n  - name: A\n    command: a\n    seed: x\n  - nam: B\n  - name: C\n    competing: 1\n";
        let Err(EntrantsError::Invalid(found)) = read(text) else { panic!("accepted") };
        let codes: Vec<&str> = found.iter().map(|d| d.code).collect();
        assert_eq!(
            codes,
            [
                "entrants/command",
                "entrants/value",
                "entrants/missing-key",
                "entrants/unknown-key",
                "entrants/no-command",
                "entrants/value"
            ]
        );
        let text = found.render(false);
        assert!(text.contains("dir/entrants.yaml:3:14") && text.contains("command: a"), "{text}");
    }

    #[test]
    fn names_of_the_edition() {
        let file = read(GOOD).unwrap();
        let fine = file.check(&["single-query", "unsat-core", "incremental"], &["organiser", "url"]);
        assert!(fine.is_empty(), "{}", fine.render(false));
        let bad = file.check(&["single-query", "unsat-cores"], &["organizer", "url"]);
        let said: Vec<String> = bad.iter().map(Diagnostic::line).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains(":7:15") && said[0].contains("did you mean `organizer`?"), "{said:?}");
        assert!(said[1].contains(":17:7") && said[1].contains("did you mean `unsat-cores`?"), "{said:?}");
        assert!(said[2].contains("no track `incremental`"), "{said:?}");
    }

    #[test]
    fn programs_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let here = make("here/sölver", 0o755);
        make("here/data", 0o644);
        make("first/tool", 0o644);
        let tool = make("second/tool", 0o755);
        let file =
            Entrants { file: "e.yaml".into(), folder: folder.path().into(), solvers: Vec::new(), tools: Vec::new() };
        let path = std::env::join_paths([
            PathBuf::from("relative"),
            folder.path().join("none"),
            folder.path().join("first"),
            folder.path().join("second"),
        ])
        .unwrap();
        assert_eq!(file.program("here/sölver", None), Ok(here.clone()));
        assert_eq!(file.program("./here/sölver", None).unwrap().canonicalize().unwrap(), here.canonicalize().unwrap());
        assert_eq!(file.program(here.to_str().unwrap(), None), Ok(here));
        assert_eq!(file.program("tool", Some(&path)), Ok(tool));
        for (name, said) in [
            ("here/data", "chmod +x"),
            ("./here", "not a file"),
            ("here/none", "does not exist"),
            ("none", "no folder of the PATH"),
        ] {
            let error = file.program(name, Some(&path)).unwrap_err().to_string();
            assert!(error.contains(said) && error.starts_with("e.yaml: the program"), "{error}");
        }
        assert!(file.program("tool", None).is_err());
    }

    #[test]
    fn scopes_and_tools() {
        let text = "entrants:\n  - name: A\n    command: [a]\n    logics: [QF_BV]\n    tracks:\n      one:\n      \
                    two: { divisions: [Sails] }\n  - name: B\n    command: [b]\ntools:\n  checker:\n    - command: \
                    [./c/check, '{proof}']\n    - { name: other, command: [o] }\n";
        let list = Entrants::parse("e.yaml", text, Path::new(".")).unwrap();
        let runs = |track: &str, division, logic| {
            list.of_track(track)
                .iter()
                .filter(|e| e.scope.includes(division, logic))
                .map(|e| e.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(runs("one", Some("Boats"), Some("QF_BV")), ["A", "B"]);
        assert_eq!(runs("one", Some("Boats"), Some("QF_LIA")), ["B"]);
        assert_eq!(runs("two", Some("Sails"), Some("QF_LIA")), ["A", "B"]);
        assert_eq!(runs("two", Some("Boats"), Some("QF_BV")), ["B"]);
        let names: Vec<(&str, &str)> = list.tools.iter().map(|t| (t.role.as_str(), t.name.as_str())).collect();
        assert_eq!(names, [("checker", "check"), ("checker", "other")]);
        let twice = text.replace("name: other", "name: check");
        assert!(Entrants::parse("e.yaml", &twice, Path::new(".")).is_err());
    }
}
