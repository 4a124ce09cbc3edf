//! The plugin `exit-code` is `exit_code.c`, in C; this crate has Cargo compile it.

/// Where the library is that was compiled.
pub const LIBRARY: &str = env!("AGON_EXIT_CODE_LIBRARY");
