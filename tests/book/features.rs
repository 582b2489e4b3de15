//! The features in the manifest equal those on the page about them.

use crate::read;
use std::collections::BTreeMap;

/// Returns the facade's features in the manifest. Each has a mark if it is on by default, and the dependencies that it
/// switches on.
fn features() -> BTreeMap<String, (bool, Vec<String>)> {
    let manifest = read("Cargo.toml");
    let (_, section) = manifest.split_once("\n[features]\n").unwrap();
    let (section, _) = section.split_once("\n\n").unwrap();
    let entries = section.lines().filter(|line| !line.starts_with('#'));
    let mut features: BTreeMap<_, _> = entries
        .map(|entry| {
            let (name, list) = entry.split_once(" = ").unwrap();
            let list = list.trim_matches(['[', ']']).split(", ");
            let list: Vec<_> = list.map(|part| part.trim_matches('"').to_owned()).collect();
            (name.to_owned(), list)
        })
        .collect();
    let default = features.remove("default").unwrap();
    let needed = |list: Vec<String>| {
        let needed = list.iter().filter_map(|part| part.strip_prefix("dep:"));
        needed.map(str::to_owned).collect()
    };
    let named = |(name, list)| {
        let is_default = default.contains(&name);
        (name, (is_default, needed(list)))
    };
    features.into_iter().map(named).collect()
}

/// Returns the cells of each row of the table below `heading`.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, page) = page.split_once(heading).unwrap();
    let table = page.lines().skip_while(|line| !line.contains("|-|"));
    let rows = table.skip(1).take_while(|line| line.contains('|'));
    rows.map(|row| {
        let row = row.trim_start_matches("//! ").trim_matches('|');
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// Returns the rows in alphabetical order, since the order of the table does not matter.
fn sorted(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    rows.sort();
    rows
}

#[test]
fn every_feature_is_listed() {
    let features = features();
    assert!(features.len() > 5, "{features:?}");
    let expected: Vec<_> = features
        .iter()
        .map(|(name, (is_default, _))| {
            let default = if *is_default { "yes" } else { "no" };
            (format!("`{name}`"), default.to_owned())
        })
        .collect();

    let page = rows(&read("book/src/features.md"), "# Features");
    let listed = page.iter().map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(sorted(listed.collect()), expected, "book/src/features.md");
    for row in &page {
        let (_, needed) = &features[row[0].trim_matches('`')];
        for dependency in needed {
            let is_named = row[3].contains(&format!("`{dependency}`"));
            assert!(is_named, "{} needs {dependency}", row[0]);
        }
    }

    let docs = rows(&read("src/lib.rs"), "//! # Features");
    let listed = docs.iter().map(|row| (row[0].clone(), row[2].clone()));
    assert_eq!(sorted(listed.collect()), expected, "src/lib.rs");
}
