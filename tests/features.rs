//! Each feature compiles alone, without warnings, since other tests turn all of them on.
//!
//! By default, the crate is compiled without features, and with the macros alone. `AGENTS_FEATURES=all cargo test --test
//! features` compiles it with each feature, which takes two minutes on two cores.

use std::process::Command;

/// Features that are compiled alone. `tls` is left out: it takes long, and the tests are always compiled with it.
const ALONE: [&str; 15] = [
    "",
    "macros",
    "ollama",
    "openai",
    "anthropic",
    "gemini",
    "compose",
    "recordings",
    "evals",
    "console",
    "testing",
    "cache",
    "limits",
    "http-tool",
    "otel",
];

#[test]
fn each_feature_stands_alone() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut wrong = String::new();
    let are_all_meant = std::env::var_os("AGENTS_FEATURES").is_some_and(|meant| meant == "all");
    let number = if are_all_meant { ALONE.len() } else { 2 };
    for features in &ALONE[..number] {
        let checked = Command::new(env!("CARGO"))
            .args(["check", "--quiet", "--locked", "--package", "typed-agents"])
            .args(["--no-default-features", "--features", features])
            .current_dir(root)
            .env("CARGO_TARGET_DIR", format!("{root}/target/features"))
            .output()
            .expect("cargo runs the tests, so it is there");
        let said = String::from_utf8_lossy(&checked.stderr);
        if !checked.status.success() || !said.trim().is_empty() {
            wrong += &format!("--features {features:?}:\n{said}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
