//! What is decided before a competition runs. So far: its seed.

pub mod seed;
