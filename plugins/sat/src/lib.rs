//! The SAT track.
