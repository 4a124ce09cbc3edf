//! Names that nothing is known about: they are not blamed, and everything beside them is checked.

use agon_table::Type;

use crate::{Scope, compile, compile_order};

fn scope(open: bool) -> Scope {
    let mut scope = Scope { open, ..Scope::default() };
    for (name, ty) in
        [("answer", Type::words(["sat", "unsat"])), ("wall", Type::TIME), ("entrant", Type::TEXT), ("n", Type::NUMBER)]
    {
        scope.columns.insert(name.into(), ty);
    }
    scope.unknown.insert("odd".into());
    scope
}

fn codes(source: &str, open: bool) -> Vec<String> {
    let errors = compile(source, &scope(open)).err().unwrap_or_else(|| panic!("{source} compiles"));
    errors.into_iter().map(|e| format!("{} {}", e.code.trim_start_matches("formula/"), &source[e.span])).collect()
}

#[test]
fn absorbed() {
    for source in [
        "odd",
        "odd + 1",
        "odd and n > 1",
        "not odd",
        "odd == sat",
        "sat == odd",
        "odd in [sat, unsat]",
        "n in [odd, 1]",
        "if(odd, 1, 2)",
        "if(n > 1, odd, sat)",
        "case(odd, 1, n > 1, 2, odd)",
        "sum(odd)",
        "count(n > 1 per odd)",
        "sum(n once odd)",
        "max(n of other odd else 0)",
        "first(odd by n)",
        "first(n by odd desc)",
        "max(odd where n > 1 else 0)",
        "n / odd else 0",
        "odd / n else 0 s",
        "odd^2",
        "sqrt(odd else 0)",
        "round(odd, 1 s)",
        "place(by odd)",
        "wall + odd > 60 s",
        "odd == answer",
    ] {
        assert_eq!(codes(source, false), [""; 0], "{source}");
    }
    assert!(compile_order("odd desc", &scope(false)).is_err_and(|e| e.is_empty()));
}

#[test]
fn what_stands_beside_is_checked() {
    for (source, expected) in [
        ("odd and wall > 60", &["dimension wall > 60"][..]),
        ("odd + bogus", &["unknown-name bogus"]),
        ("if(odd, anwser == sat, n)", &["unknown-name anwser"]),
        ("count(odd where bogus per entrnt)", &["unknown-name bogus", "unknown-name entrnt"]),
        ("max(odd else bogus + 1)", &["unknown-name bogus"]),
        ("answer == stat or odd", &["unknown-word stat"]),
        ("odd == 1 and n", &["type n"]),
    ] {
        assert_eq!(codes(source, false), expected, "{source}");
    }
}

/// In an open scope every strange name may be a column; what is known is checked as ever.
#[test]
fn open_scopes() {
    for source in ["strange", "strange == sat", "sum(strange per other)", "count(strange > 1)", "bogus + 1"] {
        assert_eq!(codes(source, true), [""; 0], "{source}");
    }
    assert_eq!(codes("strange and wall > 60", true), ["dimension wall > 60"]);
    assert_eq!(codes("strange and answer == stat", true), ["unknown-word stat"]);
    assert!(compile("answer == sat and n > 1", &scope(true)).is_ok());
}

/// A point joins words, so that a name can say to what it belongs; numbers keep theirs.
#[test]
fn dotted_names() {
    let mut scope = scope(false);
    scope.columns.insert("limits.wall".into(), Type::TIME);
    scope.columns.insert("limits.file-size".into(), Type::MEMORY);
    assert_eq!(
        compile("wall > limits.wall * 1.5", &scope).map(|f| f.columns()).ok().as_deref().map(<[String]>::len),
        Some(2)
    );
    assert!(compile("limits.file-size < 1.5 GB", &scope).is_ok());
    let errors = compile("wall > limits.wal", &scope).expect_err("there is no such name");
    assert_eq!(errors[0].help.as_deref(), Some("did you mean `limits.wall`?"));
}

#[test]
fn directions() {
    for (source, help) in [
        ("n down", "did you mean `desc`"),
        ("n Descending", "did you mean `desc`"),
        ("n up", "did you mean `asc`"),
        ("n acs", "write `asc`"),
        ("n quickly", "write `asc`"),
    ] {
        let errors = compile_order(source, &scope(false)).expect_err(source);
        assert_eq!(errors.len(), 1, "{source}: {errors:?}");
        assert!(errors[0].help.as_deref().is_some_and(|h| h.starts_with(help)), "{source}: {errors:?}");
    }
}
