//! Each feature compiles without the others, and without a warning: nobody has all of them on.

use std::process::Command;

/// `tls` is on wherever the tests themselves are compiled, and takes long.
const ALONE: [&str; 8] = [
    "",
    "macros",
    "ollama",
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
    for features in ALONE {
        let checked = Command::new(env!("CARGO"))
            .args(["check", "--quiet", "--locked", "--package", "agents"])
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
