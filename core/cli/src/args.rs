//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Runs, judges, scores and re-scores solver competitions from an edition file.
#[derive(Parser, Debug)]
#[command(name = "agon", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 a check or comparison fell short, 2 bad input or usage.\n\n\
Examples:\n  agon edition list\n  agon score smt-comp-2022 --results results.csv.zst --division QF_Bitvec\n  \
agon verify smt-comp-2014 --results results.csv.xz --published published.csv")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// List, show, check and explain editions
    #[command(subcommand)]
    Edition(EditionCommand),
    /// Compute the competition's seed from the entrants' list
    Seed(SeedArgs),
    /// Score results: standings, rankings, recognitions
    Score(ScoreArgs),
    /// Compare scores with published figures
    Verify(VerifyArgs),
    /// Read result files of an edition's forms and write them as one CSV or Parquet file
    Import(ImportArgs),
    /// Run the entrants of a track on benchmarks, judge what they print, and keep everything in a store
    Run(RunArgs),
    /// Judge the runs of a store again, and list the verdicts that change
    Judge(JudgeArgs),
    /// Scramble an SMT-LIB script as SMT-COMP's own scramblers do, byte by byte, to standard output
    Scramble(ScrambleArgs),
    /// Say what this machine can enforce and measure, and how to enable the rest; exit code 1 if something is missing
    Doctor(DoctorArgs),
    /// Serve as a sandbox process
    #[command(name = "__sandbox", hide = true)]
    Sandbox,
    /// Look at benchmarks: an index of what they say of themselves, and whether they are what a track asks for
    #[command(subcommand)]
    Bench(BenchCommand),
    /// List, check and begin track plugins
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Serve a plugin to another process of agon
    #[command(name = "__plugin-host", hide = true)]
    PluginHost,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Subcommand, Debug)]
pub enum EditionCommand {
    /// List the shipped editions
    List {
        /// How to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Print an edition as it is read: with what it extends and the deviations of the reading laid on it
    Show {
        /// An edition's name, or a path to a YAML file
        edition: String,
        #[command(flatten)]
        reading: ReadingArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Check edition files in every reading and report all that is wrong
    #[command(after_help = "Examples:\n  agon edition check editions/*.yaml\n  \
agon edition check my-cup.yaml --plugin ./libagon_my_track.so")]
    Check {
        /// Names or paths
        #[arg(required = true)]
        editions: Vec<String>,
        /// Print one line a finding
        #[arg(long)]
        short: bool,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Print the rules in plain English, with their citations
    Explain {
        /// An edition's name, or a path to a YAML file
        edition: String,
        /// Only this track
        track: Option<String>,
        #[command(flatten)]
        reading: ReadingArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List every section of the rules text with the elements that implement it, or why none does
    Coverage {
        /// An edition's name, or a path to a YAML file
        edition: String,
        #[command(flatten)]
        places: PlaceArgs,
        /// How to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Print the JSON Schema of edition files
    Schema,
}

#[derive(Subcommand, Debug)]
pub enum BenchCommand {
    /// Write a row for each SMT-LIB script of a folder: logic, statuses, category, family, counts, hash
    #[command(
        after_help = "Example:\n  agon bench index benchmarks --format csv -o benchmarks/index.csv\n\nThe CSV is a list \
of benchmarks for `agon run --benchmarks`."
    )]
    Index {
        /// The folder; folders in it are searched too
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// How to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
        /// Write to a file; its paths are then from the file's folder
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check whether scripts are what a track asks for: its commands, and terms of the declared logic; exit code 1 if not
    #[command(after_help = "Example:\n  agon bench lint benchmarks --edition smt-comp-2022 --track incremental")]
    Lint {
        /// Scripts, or folders of them
        #[arg(value_name = "FILE|DIR", required = true)]
        scripts: Vec<PathBuf>,
        /// An edition's name, or a path to a YAML file (default: only the standard, the logic and solvers' extensions are
        /// looked at)
        #[arg(long, value_name = "E", requires = "track")]
        edition: Option<String>,
        /// The track
        #[arg(long, value_name = "T", requires = "edition")]
        track: Option<String>,
        #[command(flatten)]
        places: PlaceArgs,
        /// How to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
}

#[derive(Subcommand, Debug)]
pub enum PluginCommand {
    /// List the plugins that there are, without running anything of them
    #[command(after_help = "Example:\n  agon plugin list --format json")]
    List {
        #[command(flatten)]
        places: PlaceArgs,
        /// How to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Test whether a plugin keeps the rules of the boundary; exit code 1 if it does not
    #[command(after_help = "Example:\n  agon plugin check target/release/libagon_my_track.so")]
    Check {
        /// The plugin's library, or the id of a track that is linked into agon
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The parameters with which tracks are opened, as a JSON object (default: the plugin's own)
        #[arg(long, value_name = "JSON")]
        parameters: Option<String>,
        /// Take the library even if others can write it
        #[arg(long)]
        trust_permissions: bool,
        /// How to print
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Print what a plugin declares of itself, its parameters and columns, as JSON
    #[command(after_help = "Example:\n  agon plugin describe target/release/libagon_my_track.so")]
    Describe {
        /// The plugin's library, or the id of a plugin that `agon plugin list` lists
        #[arg(value_name = "FILE|ID")]
        which: PathBuf,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Write a crate to begin a plugin with: it builds, its tests pass, and it keeps all rules
    #[command(after_help = "Example:\n  agon plugin new my-track && cd my-track && cargo test")]
    New {
        /// The plugin's name, by which editions will refer to it; also the folder that is written
        name: String,
        /// The folder of the crate agon-sdk: core/sdk in Agon's sources (default: those that agon was built from)
        #[arg(long, value_name = "PATH")]
        sdk: Option<PathBuf>,
    },
}

/// Where plugins are looked for, beside ~/.local/share/agon/plugins, the folders in AGON_PLUGIN_PATH, and
/// ../lib/agon/plugins from the program.
#[derive(Args, Debug, Clone, Default)]
pub struct PlaceArgs {
    /// Use the plugin in this library; may be repeated
    #[arg(long, value_name = "FILE")]
    pub plugin: Vec<PathBuf>,
    /// Take plugins even if others can write them; this is recorded with the results
    #[arg(long)]
    pub trust_permissions: bool,
    /// Also look beside the program: for libraries in Cargo's target folder
    #[arg(long)]
    pub dev_plugins: bool,
}

/// Where the code of plugins runs.
#[derive(Args, Debug, Clone)]
pub struct HostingArgs {
    /// What of plugins runs in processes of its own: `default` (foreign plugins, and heavy work), `all`, `heavy`, `none`
    #[arg(long, value_name = "WHAT", default_value = "default", value_parser = ["default", "all", "heavy", "none"])]
    pub isolate: String,
    /// How long one call of a plugin may take in such a process, before it is ended and noted as the plugin's fault
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub plugin_limit: Duration,
}

/// A time with its unit, such as `30s` or `2 min`.
fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    match agon_table::parse_quantity(&format!("{} {}", text[..split].trim(), &text[split..])) {
        Ok((amount, agon_table::Dim::TIME)) if amount > agon_table::Exact::ZERO => amount
            .floor()
            .as_i128()
            .and_then(|ns| u64::try_from(ns).ok())
            .map(Duration::from_nanos)
            .ok_or_else(|| "this is longer than can be waited".into()),
        _ => Err("write a time with its unit, such as 30s or 2min".into()),
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Aligned, for people
    Table,
    /// One row a line, for programs
    Csv,
    /// An array of objects
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// By the text of the rules
    Rules,
    /// As the year's own tools did it: all deviations on
    Published,
}

#[derive(Args, Debug)]
#[command(after_help = "What was run before is not run again: the same command goes on where it was interrupted.\n\n\
Example:\n  agon run smt-comp-2022 --track single-query --entrants entrants.yaml --benchmarks benchmarks/ --store run/ \\\n    \
--jobs 2 --limit wall=10s,cores=1,memory=2GB --seed 1")]
pub struct RunArgs {
    /// An edition's name, or a path to a YAML file
    pub edition: String,
    /// The track
    #[arg(long, value_name = "T")]
    pub track: String,
    /// Who takes part: a YAML file
    #[arg(long, value_name = "FILE")]
    pub entrants: PathBuf,
    /// A folder of benchmarks, a list of paths, or a CSV index with the columns benchmark, path, logic, division, family
    /// and status
    #[arg(long, value_name = "FILE|DIR")]
    pub benchmarks: PathBuf,
    /// The folder that everything is kept in
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// How many runs at a time, each with cores of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,
    /// Limits in place of the edition's: wall, cpu, memory, cores, processes, file-size, disk, output
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub limit: Vec<String>,
    /// The competition's seed (default: computed from the entrants file, if the edition has a rule for it)
    #[arg(long, value_name = "N")]
    pub seed: Option<i64>,
    /// The opening value of the index, for the edition's seed
    #[arg(long, value_name = "X")]
    pub market: Option<String>,
    /// Let runs share cores if there are too few; this is recorded, and times then depend on the neighbours
    #[arg(long)]
    pub oversubscribe: bool,
    /// A folder for the temporary folders of runs (default: agon-scratch in the system's folder for temporary files)
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    #[command(flatten)]
    pub places: PlaceArgs,
    #[command(flatten)]
    pub hosting: HostingArgs,
    /// By which reading the rules are applied
    #[arg(long = "as", value_enum, default_value_t = As::Rules)]
    pub reading: As,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  agon judge smt-comp-2022 --store run/")]
pub struct JudgeArgs {
    /// An edition's name, or a path to a YAML file
    pub edition: String,
    /// The store of a run
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// Only this track
    #[arg(long, value_name = "T")]
    pub track: Option<String>,
    /// Judge all runs, also those that this plugin has judged before
    #[arg(long)]
    pub all: bool,
    /// Check answers with the tools of this entrants file, where that was not done before (default: with those that the
    /// store remembers)
    #[arg(long, value_name = "FILE")]
    pub entrants: Option<PathBuf>,
    /// A folder for the temporary folders of tools (default: agon-scratch in the system's folder for temporary files)
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    #[command(flatten)]
    pub places: PlaceArgs,
    #[command(flatten)]
    pub hosting: HostingArgs,
    /// By which reading the rules are applied
    #[arg(long = "as", value_enum, default_value_t = As::Rules)]
    pub reading: As,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Where the official scrambler refuses a script, so does this: with its message, its exit code 1 and what it \
printed before.\n\nExamples:\n  agon scramble --seed 1234 --mode single-query script.smt2\n  \
agon scramble --seed 1234 --edition smt-comp-2022 --track incremental script.smt2\n  \
agon scramble --seed 0 --mode unfold --prefix query trace.smt2\n  \
agon scramble --check --seed 7 --mode main script.smt2"
)]
pub struct ScrambleArgs {
    /// The script
    pub file: PathBuf,
    /// The seed, from 0 to 2147483647; 0 leaves order and names as they are
    #[arg(long, value_name = "N")]
    pub seed: u32,
    /// What the result is for: single-query, incremental, model-validation, unsat-core, proof or plain (names are permuted),
    /// main, application or unfold (names are numbered as they are declared)
    #[arg(long, value_name = "MODE", required_unless_present = "edition", conflicts_with_all = ["edition", "track", "division"])]
    pub mode: Option<String>,
    /// Scramble as an edition does: its name, or a path to a YAML file
    #[arg(long, value_name = "E", requires = "track")]
    pub edition: Option<String>,
    /// The track of the edition
    #[arg(long, value_name = "T", requires = "edition")]
    pub track: Option<String>,
    /// The division of the track (default: the one of the script's logic)
    #[arg(long, value_name = "D", requires = "edition")]
    pub division: Option<String>,
    /// By which reading the edition is read
    #[arg(long = "as", value_enum, default_value_t = As::Rules)]
    pub reading: As,
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Which annotations of terms stay: keep, patterns or strip (default: those that the mode keeps)
    #[arg(long, value_name = "WHICH", value_parser = ["keep", "patterns", "strip"])]
    pub annotations: Option<String>,
    /// Keep of the named assertions those in a core: a file with `unsat` and the names in parentheses
    #[arg(long, value_name = "FILE")]
    pub core: Option<PathBuf>,
    /// Print nothing but the number of assertions, to standard error
    #[arg(long)]
    pub count_asserts: bool,
    /// Accept `reset` and all options
    #[arg(long)]
    pub support_non_smtcomp: bool,
    /// Accept the annotations of z3
    #[arg(long)]
    pub support_z3: bool,
    /// Give names of annotations numbers too (main, application, unfold)
    #[arg(long)]
    pub scramble_named: bool,
    /// Name assertions instead of the terms in them (main, application, unfold)
    #[arg(long)]
    pub lift_named: bool,
    /// How the files begin that a script is unfolded to: PREFIX.1.smt2 and so on
    #[arg(long, value_name = "PREFIX", default_value = "U")]
    pub prefix: String,
    /// The check-sats to unfold, such as 3-5 or 3- (default: all)
    #[arg(long, value_name = "FROM-TO")]
    pub queries: Option<String>,
    /// Also say where and why a script is refused
    #[arg(long)]
    pub explain: bool,
    /// Print no script; check instead that the scrambled one has the same answers as the original: by trying all assignments
    /// where they are few, and by solvers. Exit code 1 if an answer differs or nothing could be checked
    #[arg(long, conflicts_with_all = ["count_asserts", "core"])]
    pub check: bool,
    /// A solver for the check, called with a script; may be repeated (default: those in .solvers/bin)
    #[arg(long, value_name = "PROGRAM", requires = "check")]
    pub solver: Vec<PathBuf>,
    /// How long a solver has for one script of the check
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "check")]
    pub time: String,
}

#[derive(Args, Debug)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub places: PlaceArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct ReadingArgs {
    /// By which reading the rules are applied
    #[arg(long = "as", value_enum, default_value_t = As::Rules)]
    pub reading: As,
    /// Switch one deviation on (with --as rules) or off (with --as published); may be repeated
    #[arg(long, value_name = "NAME")]
    pub deviation: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  agon seed smt-comp-2022 --entrants solvers.csv --market 14636.7563 --explain")]
pub struct SeedArgs {
    /// An edition's name, or a path to a YAML file
    pub edition: String,
    /// The entrants file (YAML), or a list in a form of the edition (default: the list in the edition)
    #[arg(long, value_name = "FILE")]
    pub entrants: Option<PathBuf>,
    /// The opening value of the index (default: the one that the edition records)
    #[arg(long, value_name = "X")]
    pub market: Option<String>,
    /// By which reading the rules are applied
    #[arg(long = "as", value_enum, default_value_t = As::Published)]
    pub reading: As,
    /// Switch one deviation on (with --as rules) or off (with --as published); may be repeated
    #[arg(long, value_name = "NAME")]
    pub deviation: Vec<String>,
    /// Print the sum as well
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub places: PlaceArgs,
}

#[derive(Args, Debug)]
pub struct InputArgs {
    /// An edition's name, or a path to a YAML file
    pub edition: String,
    /// Result files in a form of the edition: CSV (plain, .gz, .xz, .zst, also inside a tar archive) or Parquet
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "store", conflicts_with = "store")]
    pub results: Vec<PathBuf>,
    /// The store of a run, in place of result files
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Only this track
    #[arg(long, value_name = "T")]
    pub track: Option<String>,
    /// `division`, `logic`, a ranking's name, `recognitions`, or `all`; may be repeated
    #[arg(long, value_name = "NAME")]
    pub table: Vec<String>,
    /// Only this division
    #[arg(long, value_name = "D")]
    pub division: Option<String>,
    /// Only this logic
    #[arg(long, value_name = "L")]
    pub logic: Option<String>,
    /// Only this view; may be repeated
    #[arg(long, value_name = "V")]
    pub view: Vec<String>,
    /// The entrants file (YAML), or a list in a form of the edition (default: the list in the edition)
    #[arg(long, value_name = "FILE")]
    pub solvers: Option<PathBuf>,
    /// Decisions taken after the runs
    #[arg(long, value_name = "FILE")]
    pub adjudication: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub places: PlaceArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  agon score smt-comp-2014 --results results.csv.xz --view parallel\n  \
agon score smt-comp-2022 --results results.csv.zst --table biggest-lead --view parallel --as published\n  \
agon score my-edition.yaml --results runs.parquet --format csv -o standings.csv")]
pub struct ScoreArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Ends with the line `figures: N compared, N equal, N explained, N unexplained`; exit code 1 if any \
is unexplained.\n\nExample:\n  agon verify smt-comp-2014 --results results.csv.xz --published published.csv --as published"
)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// The published figures, in a form of the edition
    #[arg(long, value_name = "FILE", required = true)]
    pub published: PathBuf,
    /// How to print the differences
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  agon import smt-comp-2022 results.csv.zst -o results.parquet")]
pub struct ImportArgs {
    /// An edition's name or path, whose forms read the files
    pub format: String,
    /// The files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The file to write: .parquet or .csv
    #[arg(short, long, value_name = "FILE", required = true)]
    pub output: PathBuf,
    #[command(flatten)]
    pub places: PlaceArgs,
}
