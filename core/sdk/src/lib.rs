//! Writes track plugins for Agon.
//!
//! A plugin is a type that implements [`Track`] and one line that exports it:
//!
//! ```
//! use agon_sdk::prelude::*;
//!
//! struct FirstLine {
//!     right: String,
//! }
//!
//! #[derive(serde::Deserialize)]
//! #[serde(rename_all = "kebab-case")]
//! struct Parameters {
//!     right_answer: String,
//! }
//!
//! impl Track for FirstLine {
//!     const ID: &'static str = "first-line";
//!     const VERSION: &'static str = env!("CARGO_PKG_VERSION");
//!     type Params = Parameters;
//!
//!     fn describe() -> Description {
//!         Description::new("The first line is the answer.")
//!             .parameter(Parameter::text("right-answer", "The answer that is right.").default("yes"))
//!             .field(Field::words("answer", ["yes", "no", "unknown"], "What was answered."))
//!     }
//!
//!     fn open(parameters: Parameters) -> Result<Self, Fault> {
//!         Ok(Self { right: parameters.right_answer })
//!     }
//!
//!     fn judge(&self, _job: &Job<'_>, run: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault> {
//!         let mut lines = run.stdout.unwrap_or(Reader::EMPTY).lines();
//!         let line = lines.next(1024)?.map(|line| line.bytes.to_vec()).unwrap_or_default();
//!         let answer = match line.as_slice() {
//!             b"yes" => "yes",
//!             b"no" => "no",
//!             _ => "unknown",
//!         };
//!         let soundness = match answer {
//!             "unknown" => Soundness::NotApplicable,
//!             word if word == self.right => Soundness::Agrees,
//!             _ => Soundness::Contradicts,
//!         };
//!         out.verdict(answer, soundness, Condition::of(run), Blame::of(run))
//!     }
//! }
//!
//! agon_sdk::export!(FirstLine);
//!
//! // The same track, as a host calls it.
//! use agon_sdk::{hosting::Plugin, values};
//! let plugin = Plugin::linked(&AGON_PLUGIN).unwrap();
//! let track = plugin.open("{}").unwrap();
//! let job = values::Job::new(values::Benchmark::new("b", ""));
//! let judgement = track.judge(&job, &values::Observation::finished(0, "no\n")).unwrap();
//! assert_eq!(judgement.soundness, Soundness::Contradicts);
//! ```
//!
//! The crate is built as `crate-type = ["cdylib", "rlib"]`: the first is the plugin's library, the second is for its
//! tests. A plugin spawns nothing, opens nothing, reads no clock and draws no randomness: what it emits is a function
//! of what it is given. It holds no `unsafe`: this crate checks pointers, sizes and text on the way in, and catches
//! panics on the way out.

#![allow(unsafe_code)]

pub mod describe;
mod export;
pub mod hosting;
pub mod input;
pub mod output;
pub mod read;
pub mod values;

pub use describe::{Description, Field, FieldType, Operation, Parameter, ParameterType};
pub use export::{Track, is_id, log};
pub use values::Fault;

/// What most plugins use.
pub mod prelude {
    pub use crate::describe::{Description, Field, Parameter};
    pub use crate::export::Track;
    pub use crate::input::{Benchmark, Input, Job, Judgement, Observation, Reader, Validation};
    pub use crate::output::{Explanation, Findings, Plan, Verdict};
    pub use crate::values::{
        Arg, Blame, Condition, Expect, Fault, Fidelity, FollowUp, FollowUpKind, Framing, Level, Limit, ScriptEntry,
        Soundness, Status, Step, Stream, ValidationStatus, When,
    };
}

/// What [`export!`] expands to uses these.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{descriptor, manifest, manifest_len, table, with_null};
    pub use agon_abi::{AgonPlugin, AgonTrackTable};
}

/// Exports a [`Track`] as the plugin of the library, and as the constant `AGON_PLUGIN` for programs that link it.
///
/// `export!(T)` names the descriptor `agon_plugin_v1`. `export!(T, linkable)` appends the crate's name to it (and says
/// so in the manifest), so that several such plugins can be linked into one program. With `describes = TEXT` as the last
/// argument, such as `describes = include_str!("../describe.json")`, the library carries what `describe` declares as JSON
/// (`agon plugin describe` prints it), so that hosts read it without running anything; a host refuses a library whose
/// text is out of date.
#[macro_export]
macro_rules! export {
    ($track:ty) => {
        $crate::export!(@with $track, "agon_plugin_v1");
    };
    ($track:ty, linkable) => {
        $crate::export!(@with $track, concat!("agon_plugin_v1_", env!("CARGO_CRATE_NAME")));
    };
    ($track:ty, describes = $text:expr) => {
        $crate::export!($track);
        $crate::export!(@describes $text);
    };
    ($track:ty, linkable, describes = $text:expr) => {
        $crate::export!($track, linkable);
        $crate::export!(@describes $text);
    };
    (@describes $text:expr) => {
        #[allow(unsafe_code)]
        const _: () = {
            const TEXT: &str = $text;
            #[used]
            #[unsafe(link_section = ".agon.describe")]
            static DESCRIPTION: [u8; TEXT.len() + 1] = $crate::__private::with_null(TEXT);
        };
    };
    (@with $track:ty, $symbol:expr) => {
        /// The plugin's descriptor.
        #[allow(unsafe_code)]
        #[unsafe(export_name = $symbol)]
        pub static AGON_PLUGIN: $crate::__private::AgonPlugin = {
            static TABLE: $crate::__private::AgonTrackTable = $crate::__private::table::<$track>();
            $crate::__private::descriptor::<$track>(&TABLE)
        };

        #[allow(unsafe_code)]
        const _: () = {
            #[used]
            #[unsafe(link_section = ".agon")]
            static MANIFEST: [u8; $crate::__private::manifest_len::<$track>($symbol)] =
                $crate::__private::manifest::<$track, { $crate::__private::manifest_len::<$track>($symbol) }>($symbol);
        };
    };
}
