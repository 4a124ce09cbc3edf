//! Writing scripts and terms in the concrete syntax.

/// Writes a symbol, quoted if it must be.
pub(crate) fn write_symbol(name: &[u8], out: &mut Vec<u8>) {
    if crate::lexer::is_simple(name) && !crate::session::is_reserved_word(name) {
        out.extend_from_slice(name);
    } else {
        out.push(b'|');
        out.extend_from_slice(name);
        out.push(b'|');
    }
}
