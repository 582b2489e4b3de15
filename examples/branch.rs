//! A branch: a `match` on an agent's output selects the next agent, and the compiler checks that no case is missing.
//!
//! `cargo run --example branch`
//!
//! These agents are plain functions; any of them could be driven by a model.

use agents::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Verdict {
    Passed(String),
    Failed { code: String, defects: usize },
}
use Verdict::{Failed, Passed};

/// Reviews code.
#[agent]
fn review(code: String) -> Verdict {
    match code.matches("unwrap()").count() {
        0 => Passed(code),
        defects => Failed { code, defects },
    }
}

/// Brings code to the customers.
#[agent]
fn deployer(code: String) -> String {
    format!("live: {code}")
}

struct Reporter {
    to: String,
}

#[agent]
impl Reporter {
    /// Sends code back.
    #[skill]
    fn report(&self, found: (String, usize)) -> String {
        let (code, defects) = found;
        format!("{}, please see to {defects} defects in {code}", self.to)
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let reporter = Reporter { to: "Ada".into() };
    // The agents are moved into the branch, which owns them.
    let shipped = branch!(
        Review,
        match verdict {
            Passed(code) => Deployer.run(code),
            Failed { code, defects } => reporter.run((code, defects)),
        }
    );
    for code in ["let a = b?;", "let a = b.unwrap();"] {
        println!("{code} → {}", shipped.run(code).await?);
    }
    Ok(())
}
