//! Small competitions whose figures were worked out by hand, with editions written in YAML only.

use std::fs;
use std::path::{Path, PathBuf};

use agon_tests::{agon, workspace};

/// A competition's folder, the files of its results, and what else its call says.
const COMPETITIONS: [(&str, &[&str], &[&str]); 4] = [
    ("summer-cup", &["results.csv"], &["--table", "all"]),
    ("par2", &["results.csv"], &["--adjudication"]),
    ("points-for-places", &["results.csv"], &["--table", "all", "--adjudication"]),
    ("family-weighted-cores", &["results.csv", "votes.csv"], &["--table", "all", "--adjudication"]),
];

fn folder(name: &str) -> PathBuf {
    workspace().join("tests/competitions").join(name)
}

/// The arguments that score a competition with the results of some folder.
fn input(name: &str, results: &Path, files: &[&str], further: &[&str]) -> Vec<String> {
    let text = |path: PathBuf| path.display().to_string();
    let mut args = vec![text(folder(name).join("edition.yaml")), "--results".into()];
    args.extend(files.iter().map(|file| text(results.join(file))));
    for word in further {
        args.push((*word).into());
        if *word == "--adjudication" {
            args.push(text(folder(name).join("adjudication.yaml")));
        }
    }
    args
}

fn score(args: &[String]) -> String {
    let mut call = vec!["score".to_string()];
    call.extend_from_slice(args);
    call.extend(["--format".into(), "csv".into()]);
    agon(&call).success()
}

fn expected(name: &str) -> String {
    fs::read_to_string(folder(name).join("expected.csv")).expect("each competition has its figures")
}

#[test]
fn figures_worked_out_by_hand() {
    for (name, files, further) in COMPETITIONS {
        let found = score(&input(name, &folder(name), files, further));
        assert_eq!(found, expected(name), "{name}");
    }
}

/// The order of rows and files says nothing, so it must not show.
#[test]
fn order_of_rows_and_files() {
    for (name, files, further) in COMPETITIONS {
        let copy = tempfile::tempdir().expect("there is room for a folder");
        for file in fs::read_dir(folder(name)).expect("the folder can be listed") {
            let file = file.expect("a file has a name");
            if file.path().extension().is_some_and(|e| e == "csv") {
                fs::copy(file.path(), copy.path().join(file.file_name())).expect("the file can be copied");
            }
        }
        // The rows of the first file go backwards into two files, which are given last one first.
        let text = fs::read_to_string(folder(name).join(files[0])).expect("the results can be read");
        let mut lines = text.lines();
        let header = lines.next().expect("results have a header line");
        let rows: Vec<&str> = lines.collect();
        let (first, second) = rows.split_at(rows.len() / 2);
        for (file, part) in [("first.csv", first), ("second.csv", second)] {
            let mut text = format!("{header}\n");
            for row in part.iter().rev() {
                text.push_str(row);
                text.push('\n');
            }
            fs::write(copy.path().join(file), text).expect("the part can be written");
        }
        let mut given: Vec<&str> = files[1..].to_vec();
        given.extend(["second.csv", "first.csv"]);
        assert_eq!(score(&input(name, copy.path(), &given, further)), expected(name), "{name}");
    }
}

/// The figures, taken for published ones, are all confirmed; a wrong one is found.
#[test]
fn figures_as_published_ones() {
    for (name, files, further) in COMPETITIONS {
        let further: Vec<&str> = further.iter().copied().filter(|w| *w != "--table" && *w != "all").collect();
        let verify = |published: &Path| {
            let mut call = vec!["verify".to_string()];
            call.extend(input(name, &folder(name), files, &further));
            call.extend(["--published".into(), published.display().to_string()]);
            agon(&call)
        };
        let right = verify(&folder(name).join("expected.csv"));
        assert_eq!(right.status, 0, "{name}: {}{}", right.stdout, right.stderr);
        let last = right.stdout.lines().last().unwrap_or_default().to_string();
        assert!(last.ends_with(", 0 explained, 0 unexplained"), "{name}: {last}");
        assert!(!last.contains(" 0 compared"), "{name}: {last}");

        let wrong = tempfile::NamedTempFile::new().expect("there is room for a file");
        let text = expected(name);
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        let row = lines.last_mut().expect("there are figures");
        *row = if row.ends_with(",no") { row.replace(",no", ",yes") } else { row.replace(",yes", ",no") };
        fs::write(wrong.path(), lines.join("\n") + "\n").expect("the file can be written");
        let found = verify(wrong.path());
        assert_eq!(found.status, 1, "{name}: {}{}", found.stdout, found.stderr);
        assert!(found.stdout.contains("winner: published"), "{name}: {}", found.stdout);
    }
}

/// What an adjudication decides is seen where it is left out.
#[test]
fn without_adjudications() {
    let winner = |name: &str, files: &[&str], view: &str| -> Vec<String> {
        let further = ["--view", view, "--table", "division"];
        let found = score(&input(name, &folder(name), files, &further));
        let mut reader = csv::Reader::from_reader(found.as_bytes());
        let header = reader.headers().expect("the scores have a header line").clone();
        let at = |column: &str| header.iter().position(|h| h == column).expect("every table has this column");
        let rows = reader.records().map(|row| row.expect("the scores are CSV"));
        rows.filter(|row| &row[at("winner")] == "yes")
            .map(|row| format!("{}: {}", &row[at("division")], &row[at("solver")]))
            .collect()
    };
    assert_eq!(winner("par2", &["results.csv"], "all"), ["all: Brant"]);
    assert_eq!(winner("points-for-places", &["results.csv"], "speed"), ["Dinghies: Gannet", "Keelboats: Heron"]);
    let cores = ["results.csv", "votes.csv"];
    assert_eq!(winner("family-weighted-cores", &cores, "by-family"), ["Bits: Rowan", "Reals: Quince"]);
    assert_eq!(winner("family-weighted-cores", &cores, "by-folder"), ["Bits: Quince", "Reals: Quince"]);
}

#[test]
fn recognitions() {
    for (name, files, recipient) in [
        ("points-for-places", vec!["results.csv"], "Gannet,yes,48,6.6369,4,yes,cup"),
        ("family-weighted-cores", vec!["results.csv", "votes.csv"], "Quince,yes,0,35,15.5,75,1,yes,golden-apple"),
    ] {
        let found = score(&input(name, &folder(name), &files, &["--table", "recognitions", "--adjudication"]));
        let rows: Vec<&str> = found.lines().skip(1).collect();
        assert!(matches!(rows.as_slice(), [row] if row.ends_with(recipient)), "{name}: {found}");
    }
}
