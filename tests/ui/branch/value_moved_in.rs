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
    let archive = Archive { name: "a".into() };
    let routed = branch!(Review, match verdict {
        Passed(p) => archive.run(p),
        Failed(f) => archive.run(f.to_string()),
    });
    let _ = (routed, archive.name);
}
