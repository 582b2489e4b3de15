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

struct Archive {
    name: String,
}

#[agent]
impl Archive {
    /// Finds.
    #[skill]
    fn find(&self, what: String) -> String {
        format!("{}/{what}", self.name)
    }
}

fn main() {
    let _ = branch!(Review, match verdict {
        Passed(p) => Archive { name: p }.run("x"),
        Failed(f) => Reporter.run(f),
    });
}
