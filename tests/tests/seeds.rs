//! The seeds of ten years, from lists with the sums of the real ones.

use agon_tests::agon;

fn seed(edition: &str, year: u32, market: &str, reading: &str) -> String {
    let file = |name: &str| format!("tests/competitions/seeds/{name}");
    let entrants = file(&format!("{year}.csv"));
    let edition = if edition.starts_with("smt-comp") { edition.into() } else { file(&format!("{edition}.yaml")) };
    let mut call = vec!["seed", &edition, "--entrants", &entrants, "--as", reading];
    if !market.is_empty() {
        call.extend(["--market", market]);
    }
    agon(&call).success().trim().to_string()
}

/// Year, opening value, what the rule gives, what was published.
const YEARS: [(u32, &str, &str, &str); 10] = [
    (2015, "10942.51", "53689572", "53689572"),
    (2016, "10479.88", "908323092", "908323092"),
    (2017, "11801.20", "1018271565", "1018271565"),
    (2018, "12845.08", "773027284", "773027284"),
    (2019, "12888.51", "912681575", "912681576"),
    (2020, "11787.5646", "332349782", "332349782"),
    (2021, "16662.4235", "238185157", "238185157"),
    (2022, "14636.7563", "1057205781", "1057205781"),
    (2023, "15078.69", "758161884", "758161884"),
    (2024, "17817.26", "44198892", "42434983"),
];

#[test]
fn rules_of_ten_years() {
    for (year, market, rule, published) in YEARS {
        let edition = if year < 2020 { "integer-part" } else { "hundredfold" };
        assert_eq!(seed(edition, year, market, "rules"), rule, "{year}");
        if rule != published {
            // The year's own file says what was done instead, and which opening value there was.
            let own = year.to_string();
            assert_eq!(seed(&own, year, "", "rules"), rule, "{year}");
            assert_eq!(seed(&own, year, "", "published"), published, "{year}");
        }
    }
}

/// The rule of 2012 and 2014, over a sum that passes 2^30: 5 + (2^30 - 1) + 7 + 0 is 11 more than 2^30.
#[test]
fn a_sum_by_hand() {
    assert_eq!(seed("smt-comp-2014", 2014, "10700.55", "rules"), "10711");
}

/// The shipped edition carries its own entrants and its own opening value.
#[test]
fn shipped_edition() {
    assert_eq!(agon(&["seed", "smt-comp-2022"]).success(), "1057205781\n");
}

#[test]
fn explained() {
    let text = agon(&[
        "seed",
        "tests/competitions/seeds/2024.yaml",
        "--entrants",
        "tests/competitions/seeds/2024.csv",
        "--as",
        "rules",
        "--explain",
    ])
    .success();
    assert!(text.starts_with("44198892\n"), "{text}");
    assert!(text.contains("market = 17817.26 (NYSE Composite Index)"), "{text}");
    assert!(text.contains("published: 42434983 (differs)"), "{text}");
}

#[test]
fn refusals() {
    let entrants = "tests/competitions/seeds/2020.csv";
    let edition = "tests/competitions/seeds/hundredfold.yaml";
    for (call, says) in [
        (vec!["seed", edition, "--entrants", entrants], "--market"),
        (vec!["seed", edition, "--entrants", entrants, "--market", "much"], "much"),
        (vec!["seed", "tests/competitions/seeds/common.yaml", "--entrants", entrants], "seed"),
        (vec!["seed", edition, "--market", "1"], "entrants' list is empty"),
        (vec!["seed", edition, "--entrants", "tests/competitions/seeds/2014.csv", "--market", "1"], "2014.csv"),
    ] {
        let found = agon(&call);
        assert_eq!(found.status, 2, "{call:?}: {}{}", found.stdout, found.stderr);
        assert!(found.stderr.contains(says), "{call:?}: {}", found.stderr);
    }
}

/// A single deviation is switched on over the rules, and off in what was published.
#[test]
fn single_deviations() {
    let edition = "tests/competitions/seeds/2024.yaml";
    let seed = |reading: &str, deviation: &[&str]| {
        let mut call = vec!["seed", edition, "--entrants", "tests/competitions/seeds/2024.csv", "--as", reading];
        call.extend(deviation.iter().flat_map(|d| ["--deviation", d]));
        agon(&call)
    };
    assert_eq!(seed("rules", &["plain-index"]).success(), "42434983\n");
    assert_eq!(seed("published", &["plain-index"]).success(), "44198892\n");
    let unknown = seed("rules", &["plain-indx"]);
    assert_eq!(unknown.status, 2, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("Did you mean `plain-index`?"), "{}", unknown.stderr);
    // The same switch shows and explains.
    let shown = agon(&["edition", "show", edition, "--deviation", "plain-index"]).success();
    assert!(shown.contains("floor(market)"), "{shown}");
    let explained = agon(&["edition", "explain", edition, "--deviation", "plain-index"]).success();
    assert!(explained.contains("`plain-index` (on)"), "{explained}");
}
