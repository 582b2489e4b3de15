//! JSON repairers in other languages, installed in a folder of this package: `json_repair` of PyPI and `jsonrepair` of
//! npm.

use crate::command_output;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const JSON_REPAIR: &str = "0.64.4";
const JSONREPAIR: &str = "3.15.0";
/// Time limit for the repair of a document, in seconds.
const TIMEOUT_SECONDS: &str = "120";

/// A JSON repairer that ours is compared with, and that runs as a separate program.
pub struct Peer {
    pub name: String,
    program: PathBuf,
    script: PathBuf,
    modules: PathBuf,
}

/// Installs the repairers and returns them; prints the names of those that cannot be installed.
pub fn installed() -> Vec<Peer> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = bench.join("target/peers");
    let (venv, modules) = (here.join("venv"), here.join("npm"));
    let python = venv.join("bin/python");
    fs::create_dir_all(&modules).expect("a folder can be made");
    let wanted = format!("json_repair=={JSON_REPAIR}");
    let has_python = has(&python, &["-c", "import json_repair"])
        || (has(
            Path::new("python3"),
            &["-m", "venv", &venv.to_string_lossy()],
        ) && has(
            &python,
            &[
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                &wanted,
            ],
        ));
    let wanted = format!("jsonrepair@{JSONREPAIR}");
    let has_node = modules.join("node_modules/jsonrepair").exists()
        || has(
            Path::new("npm"),
            &[
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--prefix",
                &modules.to_string_lossy(),
                &wanted,
            ],
        );
    let python_version = command_output("python3", &["--version"]);
    let node_version = command_output("node", &["--version"]);
    let peers = [
        (
            has_python,
            format!("json_repair {JSON_REPAIR} ({python_version})"),
            python,
            "peers/repair.py",
        ),
        (
            has_node,
            format!("jsonrepair {JSONREPAIR} (Node {node_version})"),
            "node".into(),
            "peers/repair.mjs",
        ),
    ];
    let mut found = Vec::new();
    for (is_there, name, program, script) in peers {
        match is_there {
            true => found.push(Peer {
                name,
                program,
                script: bench.join(script),
                modules: modules.clone(),
            }),
            false => eprintln!("{name} cannot be installed here"),
        }
    }
    found
}

fn has(program: &Path, args: &[&str]) -> bool {
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

impl Peer {
    /// Repairs a text. Returns the best time in seconds and the repaired text, or `None` on failure or a time-out.
    pub fn repair(&self, text: &str) -> Option<(f64, String)> {
        let folder = self.modules.parent()?;
        let (given, made) = (folder.join("given.txt"), folder.join("made.json"));
        fs::write(&given, text).ok()?;
        let output = Command::new("timeout")
            .arg(TIMEOUT_SECONDS)
            .arg(&self.program)
            .arg(&self.script)
            .args([&given, &made, &self.modules])
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let seconds = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .ok()?;
        output.status.success().then_some(())?;
        Some((seconds, fs::read_to_string(made).ok()?))
    }
}
