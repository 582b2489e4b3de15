//! What the macros leave behaves.

use agents::{prelude::*, tool};
use std::{io, path::PathBuf, time::Duration};

tool! {
    /// Read a file's contents.
    #[tool(reads, timeout = Duration::from_secs(2))]
    pub async fn read_file(
        /// Path, relative to the workspace.
        path: PathBuf,
        /// How many lines at most.
        #[serde(default)] lines: Option<u32>,
    ) -> io::Result<String> {
        Ok(format!("{} {lines:?}", path.display()))
    }
}

/// Adds.
#[tool(none)]
async fn add(/** Left. */ left: i64, /** Right. */ right: i64) -> i64 { left + right }

/// Repairs JSON by string surgery.
#[agent]
fn regex_fixer(broken: String) -> String { broken }

/// You fix.
#[agent(tools = [Add, ReadFile], budget(max_turns = 1))]
async fn json_fixer(request: String) -> String;

struct Mgr { root: PathBuf }

#[agent(prompt = format!("You manage files in {}", self.root.display()), tools = [ReadFile, ..Vec::<ReadFile>::new()])]
impl Mgr {
    /// Manage.
    #[skill]
    async fn manage(&self, request: String) -> String;
    /// Root.
    #[skill(when = |r: &String| r.contains("where"))]
    fn root(&self, _request: String) -> String { self.root.display().to_string() }
}

#[tokio::test]
async fn works() {
    assert_eq!(add(1, 2).await, 3);
    assert_eq!(RegexFixer.run("x").await.unwrap(), "x");
    assert_eq!(Mgr { root: "a".into() }.run("where").await.unwrap(), "a");
    println!("{:#?}", ReadFile.spec().input_schema);
}
