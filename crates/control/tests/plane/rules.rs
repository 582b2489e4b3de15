//! Rules about the sources and the dependencies.

use std::{fs, path::Path};

/// SDKs of providers and gateways. The clients of this repository are the only way to a provider.
const FORBIDDEN: &[&str] = &[
    "anthropic-sdk",
    "async-openai",
    "aws-sdk-bedrockruntime",
    "genai",
    "litellm",
    "llm",
    "ollama-rs",
    "openai-api-rs",
    "openai_dive",
    "portkey",
    "rig-core",
];

/// Returns the SDKs in a list of packages.
fn sdks<'a>(packages: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let packages = packages.into_iter();
    packages.filter(|name| FORBIDDEN.contains(name)).collect()
}

#[test]
fn l25_no_sdk_of_a_provider_comes_in() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let text = fs::read_to_string(file).unwrap();
    let names = text.lines().filter_map(|line| {
        let name = line.strip_prefix("name = \"")?;
        name.strip_suffix('"')
    });
    let names: Vec<_> = names.collect();
    assert!(names.contains(&"agents-control") && names.len() > 100);
    assert_eq!(sdks(names.iter().copied()), [""; 0]);
    // A planted one is found.
    assert_eq!(
        sdks(names.into_iter().chain(["async-openai"])),
        ["async-openai"]
    );
}

#[test]
fn s5_15_l25_the_rules_for_crates_have_the_same_list() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once("{ crate = \"")?;
        rest.split_once('"')
    });
    let denied: Vec<_> = lines.map(|(name, _)| name).collect();
    assert_eq!(denied, FORBIDDEN);
}

#[test]
fn l7_nothing_is_read_from_the_environment() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            // Examples in comments are programs of their own.
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let text = code.collect::<Vec<_>>().join("\n");
            for way in ["std::env", "env::var", "env!(", "dotenv"] {
                assert!(!text.contains(way), "{} has {way}", path.display());
            }
        }
    }
    assert!(files > 10);
}
