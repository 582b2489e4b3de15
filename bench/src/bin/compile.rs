//! Measures the compile time of a minimal agent, with one tool and one model, in each framework and by hand.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin compile [-- --write]`
//!
//! The measurement takes minutes, since each package in `minimal/` is compiled from scratch in an empty folder. The
//! packages use the versions of this package's lock file.

use agents_bench::{
    children_s,
    minimal::{crates, package},
    table::{Cell, Row, Table},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

/// Contenders whose compilation is measured: name, folder, and further arguments for cargo.
const CONTENDERS: [(&str, &str, &[&str]); 5] = [
    ("by hand", "hand", &[]),
    ("agents", "agents", &[]),
    ("agents, with TLS", "agents", &["--features", "agents/tls"]),
    ("AutoAgents 0.4", "autoagents", &[]),
    ("rig 0.44", "rig", &[]),
];
/// Time limit for a compilation in seconds.
const TIMEOUT_SECONDS: &str = "2400";

fn main() {
    let mut rows = Vec::new();
    for (name, folder, more) in CONTENDERS {
        let package = Package::of(name, folder, more);
        let cells = package.measured();
        println!(
            "{name:<20} {}",
            cells.iter().map(Cell::text).collect::<Vec<_>>().join("  ")
        );
        rows.push(Row {
            name: name.into(),
            cells,
        });
    }
    let table = Table {
        name: "compile".into(),
        title: "Compiling a minimal agent".into(),
        unit: "crates, and seconds".into(),
        method: "Packages with one tool and one model (`bench/minimal/`), all at the versions of one lock file: the crates \
                 that `cargo tree -e normal` lists beside the package itself, and `cargo build` (profile `dev`, two jobs) from an \
                 empty folder and after the package's own file was touched; nothing is downloaded meanwhile. The first build \
                 is not incremental, as that of crates from a registry never is; the second one is."
            .into(),
        logarithmic: false,
        less: true,
        columns: ["crates", "CPU s from nothing", "s from nothing", "s after a change"].map(Into::into).to_vec(),
        rows,
    };
    println!("\n{}", table.markdown());
    if std::env::args().any(|text| text == "--write") {
        table.write().expect("the results can be written");
    }
}

/// A package in the folder `minimal/`, which is compiled.
struct Package {
    folder: PathBuf,
    target: PathBuf,
    more: &'static [&'static str],
}

impl Package {
    fn of(name: &str, folder: &str, more: &'static [&'static str]) -> Package {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
        Package {
            folder: package(folder),
            target: bench
                .join("target/minimal")
                .join(name.replace([' ', ','], "-")),
            more,
        }
    }

    fn measured(&self) -> Vec<Cell> {
        let crates = crates(&self.folder, self.more);
        fs::remove_dir_all(&self.target).ok();
        let whole = self.build(false);
        // The first incremental build has nothing to begin with.
        self.build_after_change();
        let again = self.build_after_change();
        fs::remove_dir_all(&self.target).ok();
        vec![
            Cell::of(crates as f64),
            whole.map_or_else(Cell::default, |(_, cpu)| Cell::of(cpu)),
            whole.map_or_else(Cell::default, |(wall, _)| Cell::of(wall)),
            again.map_or_else(Cell::default, |(wall, _)| Cell::of(wall)),
        ]
    }

    /// Builds the package after its own file was touched, and returns what [`build`](Package::build) does.
    fn build_after_change(&self) -> Option<(f64, f64)> {
        let main = self.folder.join("src/main.rs");
        let text = fs::read(&main).expect("the package has a program");
        fs::write(&main, text).expect("it can be written");
        self.build(true)
    }

    /// Builds the package and returns its wall time and CPU time in seconds; `None` on failure or a time-out.
    fn build(&self, is_incremental: bool) -> Option<(f64, f64)> {
        let (clock, cpu) = (Instant::now(), children_s());
        let incremental = if is_incremental { "1" } else { "0" };
        let status = self
            .cargo()
            .env("CARGO_INCREMENTAL", incremental)
            .status()
            .ok()?;
        status
            .success()
            .then(|| (clock.elapsed().as_secs_f64(), children_s() - cpu))
    }

    fn cargo(&self) -> Command {
        let mut command = Command::new("timeout");
        command
            .args([TIMEOUT_SECONDS, "cargo", "build", "--quiet", "--offline"])
            .arg("--manifest-path")
            .arg(self.folder.join("Cargo.toml"))
            .args(self.more)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_BUILD_JOBS", "2")
            .stdout(Stdio::null());
        command
    }
}
