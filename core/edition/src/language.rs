//! The file format of an edition: every key, with the text that editors show for it.

use crate::shape::{Key, MapShape, Shape, key, must};

const TEXT: Shape = Shape::Text;
const CITE: Key = key("cite", Shape::Cite, "The section of the rules document that this implements, such as `§7.2.1`.");
const SAYS: Key = key("says", TEXT, "The rule in one plain sentence, printed by `explain`.");
const TITLE: Key = key("title", TEXT, "The name as people write it.");

/// A formula with its citation.
static FORMULA: MapShape = MapShape {
    name: "formula",
    doc: "A formula with its citation and the way its value is printed.",
    keys: &[
        must("is", Shape::Formula, "The formula."),
        TITLE,
        SAYS,
        CITE,
        key("decimals", Shape::Int, "Digits after the point in printed tables."),
        key(
            "print",
            Shape::Bool,
            "Whether it is printed: a count is unless this is false, a column of the standings is not unless this is true.",
        ),
        key("before", Shape::Name, "When laid on another file: the name before which this one is inserted."),
    ],
};
static FORMULA_SHAPE: Shape = Shape::Either(&Shape::Formula, &FORMULA);

static STEP: MapShape = MapShape {
    name: "step",
    doc: "One step over the rows of a table: columns are added (`let`), rows are kept or dropped, or rows are folded (`group`).",
    keys: &[
        key(
            "let",
            Shape::Dict("names to formulas", &FORMULA_SHAPE),
            "Columns to add, in order; a later one may use an earlier one.",
        ),
        key("keep", Shape::Formula, "Only the rows for which this holds stay."),
        key("drop", Shape::Formula, "The rows for which this holds go."),
        key(
            "group",
            Shape::List(&Shape::Name),
            "One row stays for all rows that agree in these columns; in `let`, an aggregate without `per` folds over them.",
        ),
        SAYS,
        CITE,
        key("before", Shape::Name, "When laid on another file: the step before which this one is inserted."),
    ],
};

static LIMITS: MapShape = MapShape {
    name: "limits",
    doc: "What one run may use.",
    keys: &[
        key("wall", Shape::Quantity("time"), "Wall-clock time."),
        key("cpu", Shape::Quantity("time"), "CPU time over all processes of the run."),
        key("memory", Shape::Quantity("memory"), "Memory over all processes of the run."),
        key("cores", Shape::Count, "Processor cores; no two runs share one."),
        key("processes", Shape::Count, "Processes and threads at a time."),
        key("file-size", Shape::Quantity("memory"), "The size of one file that the run writes."),
        key("disk", Shape::Quantity("memory"), "Space in the run's temporary folder."),
        key("output", Shape::Quantity("memory"), "What the run may print, standard output and error together."),
        SAYS,
        CITE,
    ],
};

static VARIABLE: MapShape = MapShape {
    name: "variable",
    doc: "An environment variable of the solver with the same text in every run.",
    keys: &[must("value", TEXT, "The text.")],
};

/// How the benchmarks are scrambled, by the words that the command `scramble` takes as modes.
const MODES: &[(&str, &str)] = &[
    ("none", "They are not scrambled (the default)."),
    ("single-query", "Names are permuted; for scripts with one check-sat."),
    ("incremental", "Names are permuted; for scripts that a trace executor sends command by command."),
    ("unsat-core", "Names are permuted; the assertions are named, and a core is asked for."),
    ("model-validation", "Names are permuted; a model is asked for."),
    ("proof", "Names are permuted; a proof is asked for."),
    ("plain", "Names are permuted; all annotations stay."),
    ("main", "Names are numbered as they are declared; for scripts with one check-sat."),
    ("application", "Names are numbered as they are declared; for scripts with several check-sats."),
    ("unfold", "Names are numbered as they are declared; one script is made of every check-sat."),
];
static MODE: Shape = Shape::Word(MODES);

const ANNOTATION_WORDS: &[(&str, &str)] = &[
    ("keep", "All stay."),
    ("patterns", "A `:pattern` stays that is a term's only annotation."),
    ("strip", "None stays."),
];

const ANNOTATIONS: Key = key(
    "annotations",
    Shape::Word(ANNOTATION_WORDS),
    "Which annotations of terms stay, if not those that the mode keeps.",
);

static SCRAMBLING: MapShape = MapShape {
    name: "scrambling",
    doc: "How the benchmarks are scrambled, with the competition's seed.",
    keys: &[must("mode", Shape::Word(MODES), "How the scrambler treats a benchmark."), ANNOTATIONS, SAYS, CITE],
};

static DIVISION_SCRAMBLING: MapShape = MapShape {
    name: "division-scrambling",
    doc: "What differs in how the benchmarks of a division are scrambled.",
    keys: &[key("mode", Shape::Word(MODES), "How the scrambler treats a benchmark."), ANNOTATIONS, SAYS, CITE],
};

/// What a runner has to know beyond the limits.
static RUN: MapShape = MapShape {
    name: "run",
    doc: "How the runs are prepared: what solvers are told, the order of the benchmarks, their scrambling.",
    keys: &[
        SAYS,
        CITE,
        key(
            "environment",
            Shape::Dict("environment variables to limits, such as `limits.wall in s`", &VARIABLE_SHAPE),
            "Environment variables that tell the solver its limits, in whole units rounded down.",
        ),
        key(
            "order",
            Shape::Word(&[
                ("listed", "The order of the list of benchmarks (the default)."),
                ("shuffled", "An order that the competition's seed decides, the same for every entrant."),
            ]),
            "The order in which benchmarks are run.",
        ),
        key(
            "scramble",
            Shape::Either(&MODE, &SCRAMBLING),
            "How the scrambler treats a benchmark, with the competition's seed.",
        ),
    ],
};
static VARIABLE_SHAPE: Shape = Shape::Either(&TEXT, &VARIABLE);

const COMMANDS_LIST: Shape = Shape::List(&TEXT);

static SCRIPT_RULE: MapShape = MapShape {
    name: "script-rule",
    doc: "What is asked of the commands or terms of a benchmark script.",
    keys: &[
        CITE,
        SAYS,
        key("only", COMMANDS_LIST, "There are no commands but these."),
        key("commands", COMMANDS_LIST, "The commands that the other keys are about."),
        key("beginning", TEXT, "Of these, the ones whose arguments begin with this: `:status`."),
        key("exactly", Shape::Int, "There are so many of them."),
        key("at-least", Shape::Int, "There are so many of them or more."),
        key("at-most", Shape::Int, "There are so many of them or fewer."),
        key("arguments", COMMANDS_LIST, "Their arguments, as written with single blanks, are one of these."),
        key(
            "place",
            Shape::Word(&[
                ("first", "It is the first command."),
                ("second", "It is the second command."),
                ("last", "It is the last command."),
            ]),
            "Where each of them stands.",
        ),
        key("only-behind", COMMANDS_LIST, "Only these commands stand before them."),
        key("after", COMMANDS_LIST, "One of these commands stands before each of them."),
        key("not-after", COMMANDS_LIST, "None of these commands stands before them."),
        key("followed-by", TEXT, "This command is the next one."),
        key("arity", Shape::Int, "The sorts that they declare or define take so many arguments."),
        key("needs-datatypes", Shape::Bool, "They stand only in scripts whose logic has datatypes."),
        key(
            "terms",
            Shape::Word(&[
                ("in-logic", "Terms, sorts and free symbols belong to the declared logic."),
                ("declared", "Every free symbol is declared once, before it is used."),
                ("unnamed", "No term has a name."),
                ("named-assertions", "Only asserted terms have names."),
            ]),
            "What is asked of the terms.",
        ),
    ],
};

static SCRIPTS: MapShape = MapShape {
    name: "scripts",
    doc: "The language of the track's benchmark scripts; `agon bench lint` checks it.",
    keys: &[
        CITE,
        SAYS,
        key(
            "version",
            Shape::Word(&[
                ("2.0", "SMT-LIB 2.0."),
                ("2.5", "SMT-LIB 2.5."),
                ("2.6", "SMT-LIB 2.6."),
                ("2.7", "SMT-LIB 2.7."),
            ]),
            "The version of the language (default: the one that a script states).",
        ),
        key(
            "rules",
            Shape::Dict("names to rules for scripts", &Shape::Map(&SCRIPT_RULE)),
            "What is asked of a script.",
        ),
    ],
};

static DIVISION: MapShape = MapShape {
    name: "division",
    doc: "A division: the logics whose benchmarks it uses.",
    keys: &[
        key("logics", Shape::List(&Shape::Name), "The SMT-LIB logics of the division."),
        key("experimental", Shape::Bool, "Run and listed, but without a winner."),
        key(
            "scramble",
            Shape::Either(&MODE, &DIVISION_SCRAMBLING),
            "How its benchmarks are scrambled, where that differs from the track's other divisions.",
        ),
        SAYS,
        CITE,
    ],
};
static DIVISION_SHAPE: Shape = Shape::Either(&Shape::List(&Shape::Name), &DIVISION);
static DIVISIONS: Shape = Shape::Dict("divisions to their logics", &DIVISION_SHAPE);

static TYPES: Shape = Shape::Word(&[
    ("text", "Any text."),
    ("words", "One of the words listed under `words`."),
    ("bool", "true or false."),
    ("number", "A number, exact."),
    ("time", "A time; in result files seconds unless `unit` says otherwise."),
    ("memory", "An amount of memory; in result files bytes unless `unit` says otherwise."),
]);

static FIELD: MapShape = MapShape {
    name: "field",
    doc: "A column of the results or of the entrants' list.",
    keys: &[
        must(
            "type",
            Shape::Word(&[
                ("text", "Any text."),
                ("words", "One of the words listed under `words`."),
                ("bool", "true or false."),
                ("number", "A number, exact."),
                ("time", "A time."),
                ("memory", "An amount of memory."),
            ]),
            "What the column holds.",
        ),
        key("words", Shape::List(&TEXT), "The vocabulary of a column of words."),
        key("otherwise", Shape::Name, "Of an entrant's column: the column that stands in where the list says nothing."),
        key("optional", Shape::Bool, "Some archives lack the column; counts that need it are then left out."),
        key(
            "empty",
            TEXT,
            "Of a plugin's column that is optional: what is taken for a run of a store of which the plugin says nothing.",
        ),
        SAYS,
    ],
};
static FIELD_SHAPE: Shape = Shape::Either(&TYPES, &FIELD);

static RECOGNISE: MapShape = MapShape {
    name: "recognise",
    doc: "How a file of this form is told from others.",
    keys: &[
        key("columns", Shape::List(&TEXT), "The header line has all of these columns."),
        key("without", Shape::List(&TEXT), "The header line has none of these columns."),
        key("file", Shape::Regex, "The file's name matches."),
        key("fields", Shape::Int, "The first line has this many fields (for files without a header line)."),
    ],
};

static COLUMN: MapShape = MapShape {
    name: "column",
    doc: "Where a column comes from and how its raw texts are read.",
    keys: &[
        key("from", TEXT, "The raw column."),
        key("file-name", Shape::Bool, "Take the text from the file's name instead of a column."),
        key("value", TEXT, "Take this text for every row."),
        key("part", Shape::Regex, "Only the part that the (first group of the) expression matches."),
        key(
            "words",
            Shape::Dict("raw words to the words of the column", &TEXT),
            "What the raw words mean; any other word is an error.",
        ),
        key("otherwise", TEXT, "What every other raw word means."),
        key("empty", TEXT, "What an empty cell means; without this an empty cell is an error."),
        key("unit", TEXT, "The unit of the raw numbers (`s`, `ms`, `MB` …)."),
        key(
            "type",
            Shape::Word(&[
                ("text", "Any text."),
                ("bool", "true or false."),
                ("number", "A number."),
                ("time", "A time."),
                ("memory", "An amount of memory."),
            ]),
            "What the column holds, if its name does not say so already.",
        ),
        SAYS,
    ],
};
static COLUMN_SHAPE: Shape = Shape::Either(&TEXT, &COLUMN);

static JOIN: MapShape = MapShape {
    name: "join",
    doc: "Another file that adds columns to the rows.",
    keys: &[
        key("file", TEXT, "Its name; it lies beside the results file. Without this it is one of the given files."),
        key("recognise", Shape::Map(&RECOGNISE), "How it is recognised among the given files."),
        key("header", Shape::List(&TEXT), "The names of its columns, if it has no header line."),
        must(
            "on",
            Shape::Dict("a column of the rows to the column of this file that it must equal", &TEXT),
            "What joins a row to a row of this file.",
        ),
        must("columns", Shape::Dict("columns to where they come from", &COLUMN_SHAPE), "The columns that it adds."),
        key(
            "optional",
            Shape::Bool,
            "Whether rows of the results may have no row in this file; its columns then say with `empty` what they have.",
        ),
    ],
};

static DUPLICATES: MapShape = MapShape {
    name: "duplicates",
    doc: "Which of several rows with the same key counts.",
    keys: &[
        must("best", Shape::Name, "The row with the greatest value in this column counts; a tie is an error."),
        key("least", Shape::Bool, "The least value instead of the greatest."),
    ],
};
/// A form of result files or entrants' lists.
static FORM: MapShape = MapShape {
    name: "form",
    doc: "How the files of one form are read: names, words, keys, joins.",
    keys: &[
        SAYS,
        key("track", Shape::Name, "The track that the results belong to."),
        must("recognise", Shape::Map(&RECOGNISE), "How a file of this form is told from others."),
        key("header", Shape::List(&TEXT), "The names of the columns, for files without a header line."),
        key("delimiter", TEXT, "What separates fields, if it is not a comma."),
        must(
            "columns",
            Shape::Dict("columns to where they come from", &COLUMN_SHAPE),
            "The columns that are read, under the names that formulas use.",
        ),
        key("computed", Shape::Dict("names to formulas", &FORMULA_SHAPE), "Columns computed from the ones read."),
        key("join", Shape::Dict("names to joined files", &Shape::Map(&JOIN)), "Other files that add columns."),
        key("key", Shape::List(&Shape::Name), "The columns that identify a row (default: entrant, benchmark)."),
        key(
            "duplicates",
            Shape::Either(
                &Shape::Word(&[
                    ("error", "A repeated key is an error (the default)."),
                    ("identical", "A repeated row is dropped if it says the same, else it is an error."),
                    ("first", "The first row counts, in the order of the files and rows."),
                    ("last", "The last row counts, in the order of the files and rows."),
                ]),
                &DUPLICATES,
            ),
            "Which of several rows with the same key counts.",
        ),
    ],
};

static FIGURE: MapShape = MapShape {
    name: "figure",
    doc: "A column of a file of published figures.",
    keys: &[
        key("from", TEXT, "The column of the file."),
        key("value", TEXT, "The same text for every row."),
        key("words", Shape::Dict("the file's words to ours", &TEXT), "What the file's words mean."),
        key("otherwise", TEXT, "What every other word means."),
        key("part", Shape::Regex, "Only the part that the (first group of the) expression matches."),
        key(
            "is",
            Shape::Formula,
            "What it is compared with, as a formula over the standings; without this the column of the same name.",
        ),
        key(
            "tolerance",
            TEXT,
            "The largest difference that counts as equal: half a unit of the last printed digit, or what the file's precision demands.",
        ),
        key("empty", TEXT, "What an empty cell stands for; without this it is a figure that was not published."),
        SAYS,
    ],
};
static FIGURE_SHAPE: Shape = Shape::Either(&TEXT, &FIGURE);

static PUBLISHED: MapShape = MapShape {
    name: "published",
    doc: "How a file of published figures is read and compared.",
    keys: &[
        SAYS,
        must("recognise", Shape::Map(&RECOGNISE), "How a file of this form is told from others."),
        key(
            "where",
            Shape::Dict("columns to the values that count", &Shape::List(&TEXT)),
            "Only these rows of the file count.",
        ),
        must(
            "columns",
            Shape::Dict("our columns to the file's", &FIGURE_SHAPE),
            "Our columns and where the file has them.",
        ),
        must("key", Shape::List(&Shape::Name), "The columns that say which standing a row is about."),
    ],
};

static LEDGER: MapShape = MapShape {
    name: "ledger",
    doc: "A known difference between what was published and what can be computed.",
    keys: &[
        must("cause", TEXT, "Why it differs."),
        must("reference", TEXT, "Where that can be seen."),
        key(
            "where",
            Shape::Dict("columns to values", &Shape::List(&TEXT)),
            "Which figures it is about (also `column`: the name of the figure).",
        ),
        key(
            "holds",
            Shape::Formula,
            "What must hold for `published` and `computed`, so that nothing else hides behind this entry.",
        ),
        CITE,
    ],
};

static DEVIATION: MapShape = MapShape {
    name: "deviation",
    doc: "What the year's own tools did instead of the rule.",
    keys: &[
        TITLE,
        CITE,
        must("because", TEXT, "What was done instead, and why as far as known."),
        must("reference", TEXT, "Where that can be seen."),
        must("instead", Shape::Part, "The parts of the edition that replace the rule's, laid on the edition."),
    ],
};

static VIEW: MapShape = MapShape {
    name: "view",
    doc: "One way to score the same runs: a limit, a clock, a choice of benchmarks, an order.",
    keys: &[
        TITLE,
        SAYS,
        CITE,
        key(
            "let",
            Shape::Dict("names to formulas", &FORMULA_SHAPE),
            "Constants and columns that the common steps use.",
        ),
        key(
            "runs",
            Shape::Dict("names to steps", &Shape::Map(&STEP)),
            "Steps of this view; one with the name of a common step replaces it.",
        ),
        key("order", Shape::List(&Shape::Order), "How standings are compared, the most important key first."),
        key("before", Shape::Name, "When laid on another file: the view before which this one is inserted."),
    ],
};

static TABLE: MapShape = MapShape {
    name: "table",
    doc: "A table of standings.",
    keys: &[
        must(
            "by",
            Shape::List(&Shape::Name),
            "The columns of the runs that one ranking of the table stands for (division; division and logic; none for the whole track).",
        ),
        TITLE,
        CITE,
    ],
};

static RANKING: MapShape = MapShape {
    name: "ranking",
    doc: "A ranking across divisions.",
    keys: &[
        TITLE,
        SAYS,
        CITE,
        must("from", Shape::Name, "What it starts from: `runs`, or a table of standings."),
        key("views", Shape::List(&TEXT), "The views that it is computed for (default: all)."),
        key("steps", Shape::Dict("names to steps", &Shape::Map(&STEP)), "From there to one row a place."),
        must("order", Shape::List(&Shape::Order), "How rows are compared, the most important key first."),
        must("values", Shape::Dict("names to formulas", &FORMULA_SHAPE), "The columns that are printed."),
        key("winner", Shape::Either(&Shape::Formula, &FORMULA), "Who wins it; `position` and `rank` are the places."),
    ],
};

static SCORING: MapShape = MapShape {
    name: "scoring",
    doc: "From runs to standings.",
    keys: &[
        SAYS,
        CITE,
        key(
            "prepare",
            Shape::Dict("names to steps", &Shape::Map(&STEP)),
            "Steps that are taken once, before any view.",
        ),
        key("runs", Shape::Dict("names to steps", &Shape::Map(&STEP)), "Steps that are taken in every view."),
        key(
            "tables",
            Shape::Dict("names to tables", &Shape::Map(&TABLE)),
            "The tables of standings (default: `division`).",
        ),
        key(
            "measures",
            Shape::Dict("names to formulas", &FORMULA_SHAPE),
            "The score of an entrant: aggregates over its runs.",
        ),
        key("counts", Shape::Dict("names to formulas", &FORMULA_SHAPE), "What is printed beside the score."),
        key(
            "standings",
            Shape::Dict("names to formulas", &FORMULA_SHAPE),
            "Further columns of the standings, computed from the score.",
        ),
        key("order", Shape::List(&Shape::Order), "How standings are compared, for views that do not say."),
        key("winner", Shape::Either(&Shape::Formula, &FORMULA), "Who wins; `position` and `rank` are the places."),
        key("views", Shape::Dict("names to views", &Shape::Map(&VIEW)), "The ways to score the same runs."),
        key("rankings", Shape::Dict("names to rankings", &Shape::Map(&RANKING)), "Rankings across divisions."),
    ],
};

static CHECK: MapShape = MapShape {
    name: "check",
    doc: "What is run to check an answer.",
    keys: &[TITLE, SAYS, CITE, key("limits", Shape::Map(&LIMITS), "What one check may use.")],
};

static TRACK: MapShape = MapShape {
    name: "track",
    doc: "A track: how solvers are run, how their answers are judged, how results are scored.",
    keys: &[
        TITLE,
        SAYS,
        CITE,
        key(
            "like",
            Shape::Name,
            "Another track of the edition; everything that this one does not say is taken from it.",
        ),
        key("plugin", Shape::Name, "The track plugin that prepares benchmarks and judges answers."),
        key(
            "parameters",
            Shape::Dict("parameters of the plugin to values", &Shape::List(&TEXT)),
            "What the plugin is told; the plugin's schema says which parameters it has.",
        ),
        key(
            "status",
            Shape::Word(&[
                ("competitive", "Winners are declared (the default)."),
                ("exhibition", "Run and listed, nothing is won."),
                ("experimental", "Run and listed for the first time, nothing is won."),
            ]),
            "Whether there is something to win.",
        ),
        key(
            "input",
            Shape::Word(&[
                ("argument", "The benchmark file is the first argument of the solver."),
                ("stdin", "The benchmark is the solver's standard input."),
                ("trace", "A trace executor sends the commands one by one."),
            ]),
            "How a benchmark reaches the solver.",
        ),
        key("limits", Shape::Map(&LIMITS), "What one run may use."),
        key("run", Shape::Map(&RUN), "How the runs are prepared."),
        key("scripts", Shape::Map(&SCRIPTS), "The language of the benchmark scripts."),
        key("checks", Shape::Dict("names to checks", &Shape::Map(&CHECK)), "What is run afterwards to check answers."),
        key(
            "divisions",
            Shape::Part,
            "The divisions: the name of a set under `divisions`, or a mapping from divisions to their logics.",
        ),
        key(
            "fields",
            Shape::Dict("columns to types", &FIELD_SHAPE),
            "Columns of the results beyond those that every run and the plugin have.",
        ),
        key(
            "entrant-key",
            Shape::Name,
            "The column of the entrants' list that names an entrant in this track's results (default: entrant).",
        ),
        key("scoring", Shape::Map(&SCORING), "From runs to standings."),
        key("before", Shape::Name, "When laid on another file: the track before which this one is inserted."),
    ],
};

static RECOGNITION: MapShape = MapShape {
    name: "recognition",
    doc: "A medal or another recognition.",
    keys: &[
        TITLE,
        SAYS,
        CITE,
        must("track", Shape::Name, "The track."),
        must("from", Shape::Name, "The table or ranking whose rows are looked at."),
        key("view", TEXT, "The view (default: every one)."),
        must(
            "where",
            Shape::Formula,
            "Which rows receive it; `position`, `rank`, `winner` and the columns of the row are known.",
        ),
    ],
};

static MARKET: MapShape = MapShape {
    name: "market",
    doc: "The number from outside that nobody can choose.",
    keys: &[
        must("name", TEXT, "Which index."),
        key("opening", Shape::Decimal, "Its opening value on the day."),
        key("date", Shape::Date, "The day."),
        CITE,
    ],
};

static SEED: MapShape = MapShape {
    name: "seed",
    doc: "The competition's seed.",
    keys: &[
        SAYS,
        CITE,
        must(
            "formula",
            Shape::Either(&Shape::Formula, &FORMULA),
            "The seed, over the entrants' list; `market` is the opening value.",
        ),
        key(
            "generator",
            Shape::Word(&[
                ("c-random", "The C library's random(), seeded with srandom()."),
                ("python", "Python's random module: the Mersenne Twister with its own way of drawing below a bound."),
                ("scrambler", "The scrambler's own generator."),
                ("agon", "The portable generator that Agon specifies for new editions."),
            ]),
            "The generator that the seed starts.",
        ),
        key("market", Shape::Map(&MARKET), "The number from outside."),
        key("published", Shape::Int, "The seed that was used, if it is known."),
    ],
};

static ENTRANTS: MapShape = MapShape {
    name: "entrants",
    doc: "Who competes.",
    keys: &[
        SAYS,
        CITE,
        key(
            "fields",
            Shape::Dict("columns to types", &FIELD_SHAPE),
            "What is known of an entrant beyond `entrant`, `solver` and `competing`.",
        ),
        key("list", Shape::List(&Shape::Dict("columns to values", &TEXT)), "The entrants, one mapping each."),
        key("forms", Shape::Dict("names to forms", &Shape::Map(&FORM)), "How lists of entrants in files are read."),
    ],
};

static EVENT: MapShape = MapShape {
    name: "event",
    doc: "A date of the competition.",
    keys: &[must("date", Shape::Date, "The day."), must("what", TEXT, "What happens."), CITE],
};

static RULES: MapShape = MapShape {
    name: "rules",
    doc: "The rules document.",
    keys: &[
        must("document", TEXT, "Its title."),
        key("revision", TEXT, "Its revision."),
        key("url", TEXT, "Where it can be had."),
        key("sections", Shape::Dict("section numbers to headings", &TEXT), "All its sections, for `coverage`."),
    ],
};

/// A whole edition.
pub(crate) static EDITION: MapShape = MapShape {
    name: "edition",
    doc: "The rules of one competition year, as data.",
    keys: &[
        must("edition", Shape::Name, "The name of the edition, as commands take it."),
        TITLE,
        SAYS,
        key("extends", TEXT, "Another edition (a name, or a path relative to this file) on which this one is laid."),
        key("rules", Shape::Map(&RULES), "The rules document."),
        key("organisers", Shape::List(&TEXT), "The organisers."),
        key("timeline", Shape::List(&Shape::Map(&EVENT)), "The dates."),
        key("seed", Shape::Map(&SEED), "The competition's seed."),
        key("entrants", Shape::Map(&ENTRANTS), "Who competes."),
        key(
            "divisions",
            Shape::Dict("names to sets of divisions", &DIVISIONS),
            "Sets of divisions that tracks refer to.",
        ),
        key("tracks", Shape::Dict("names to tracks", &Shape::Map(&TRACK)), "The tracks."),
        key(
            "recognitions",
            Shape::Dict("names to recognitions", &Shape::Map(&RECOGNITION)),
            "Medals and other recognitions.",
        ),
        key("results", Shape::Dict("names to forms", &Shape::Map(&FORM)), "How the year's raw result files are read."),
        key(
            "published",
            Shape::Dict("names to forms", &Shape::Map(&PUBLISHED)),
            "How files of published figures are read and compared.",
        ),
        key(
            "deviations",
            Shape::Dict("names to deviations", &Shape::Map(&DEVIATION)),
            "What the year's own tools did instead of the rules.",
        ),
        key(
            "ledger",
            Shape::Dict("names to entries", &Shape::Map(&LEDGER)),
            "Known differences that cannot be computed away.",
        ),
        key(
            "coverage",
            Shape::Dict("sections to reasons", &TEXT),
            "Sections of the rules text that no element implements, and why.",
        ),
    ],
};

/// What every track's results have, before the plugin's own columns: name, type, whether archives may lack it, meaning.
pub(crate) const RUN_FIELDS: &[(&str, &str, bool, &str)] = &[
    ("entrant", "text", false, "The entrant: one solver with one configuration."),
    ("benchmark", "text", false, "The benchmark, by its path in the library."),
    ("solver", "text", false, "The entrant's name on result pages."),
    ("competing", "bool", false, "Whether the entrant can win."),
    ("division", "text", false, "The division; follows from the logic unless the results say it."),
    ("logic", "text", true, "The SMT-LIB logic."),
    ("family", "text", true, "The benchmark's family."),
    ("wall_time", "time", false, "Wall-clock time of the run."),
    ("cpu_time", "time", false, "CPU time of the run, over all its processes."),
    ("memory", "memory", true, "Peak memory of the run."),
    (
        "condition",
        "finished cpu-limit wall-limit memory-limit crashed malformed-output harness-fault",
        true,
        "How the run ended.",
    ),
    ("disqualified", "bool", true, "Whether an adjudication disqualified the entrant."),
    ("experimental", "bool", true, "Whether the division is experimental."),
];

/// What a store says of every run beside that; no plugin's column may have such a name either.
pub(crate) const STORE_FIELDS: &[&str] = &["track", "soundness", "blame"];

/// Checks a mapping from divisions to logics that stands in a track.
pub(crate) fn check_divisions(node: &crate::node::Node, out: &mut crate::diag::Diagnostics) {
    DIVISIONS.check(node, "`divisions`", out);
}
