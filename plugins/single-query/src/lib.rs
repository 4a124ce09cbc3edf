//! The single-query track (main track, parallel and cloud tracks): one check-sat a benchmark; the answer on standard
//! output is compared with the benchmark's status.
//!
//! [`reading`] turns an output into responses; [`judging`] says what a run is worth under an edition's parameters.
//! Both are functions of what was observed, so that an archived run is judged again to the same verdict.
//!
//! # What the rules of SMT-COMP say, as parameters
//!
//! | parameter | 2012 §4.2, 2014 §4.2 | 2022, by its text | 2022, by its post-processor |
//! |---|---|---|---|
//! | `after-time-limit` | `ignore`: a time-out is as `unknown` | `count`: §7.1.2, last paragraph; the views cut by time | `count` |
//! | `after-crash`, `after-memory-limit` | `count`: only who exits "without reporting a result" aborted | `count`: §7.1.2 | `count` |
//! | `other-output` | `decides`: output other than the three words is an abort | `decides`: §5.2 names the post-processor | `decides` |
//! | `letters` | `lower`: "in lowercase" | `lower` | `lower` |
//! | `line-rest` | `refuse` | `refuse` | `ignore`: the first word of the line |
//! | `error-channel` | `ignore`: "on its standard output channel" | `ignore` by §5.2, `count` by §5.1 | both were one file |
//!
//! `success` is passed over in all of them. None speaks of answers after an `(error …)`, of several answers to the one
//! check-sat, or of white space: the post-processor takes the first line that is neither blank nor a comment nor
//! `success`, without the white space around it, which are the defaults here.

pub mod judging;
pub mod reading;
mod track;

pub use judging::{Parameters, Verdict, explain, judge, read};
pub use track::{AGON_PLUGIN, SingleQuery};
