use agents::prelude::*;
use std::time::Duration;

/// You sort issues.
#[agent(policies = [("github_*", Duration::from_secs(3))])]
async fn triage(request: String) -> String;

fn main() {}
