use agents::prelude::*;
use Verdict::*;

#[derive(serde::Serialize, serde::Deserialize)]
pub enum Verdict {
    Passed(String),
    Failed(u32),
}

/// Reviews.
#[agent]
fn review(code: String) -> Verdict {
    Passed(code)
}

/// Deploys.
#[agent]
fn deployer(code: String) -> String {
    code
}

/// Reports.
#[agent]
fn reporter(defects: u32) -> String {
    defects.to_string()
}

/// Counts.
#[agent]
fn counter(defects: u32) -> usize {
    defects as usize
}

fn main() {
    let _ = branch!(Review, |verdict| Deployer.run("x"));
    let _ = branch!(Review, match verdict.kind() { _ => Deployer.run("x") });
    let _ = branch!(Review, match verdict {});
    let _ = branch!(Review, match verdict { Passed(p) -> Deployer.run(p), Failed(f) = Reporter.run(f) });
}
