#![deny(warnings)]

use agents::compose::{Transcript, forum};
use agents::{prelude::*, tool};
use serde::{Deserialize, Serialize};

#[derive(Clone)]
pub struct Db;

macro_rules! tools {
    ($($name:ident)*) => {
        $(
            /// Works.
            #[tool(none)]
            async fn $name() -> String {
                String::new()
            }
        )*
    };
}

tools!(create_spec search_spec draw_uml write_file compile read_file run_tests deploy);

pub struct Project {
    db: Db,
}

#[agent(prompt = "You run the project.")]
impl Project {
    fn new(db: Db) -> Self {
        Project { db }
    }

    /// Runs it.
    #[skill]
    async fn run_project(&self, goal: String) -> String;

    /// Says what there is.
    #[skill(when = |goal| goal.is_empty())]
    async fn status(&self, _goal: String) -> Result<String, Error> {
        let _ = self.db.clone();
        agents::team::delegate::<CodeMaster>()?
            .run("how far are you?")
            .await
    }
}

/// You write specifications.
#[agent(tools = [CreateSpec, SearchSpec, DrawUml])]
async fn spec_master(goal: String) -> String;

/// You draw.
#[agent(tools = [DrawUml])]
async fn uml_drawer(what: String) -> String;

/// You lead coders.
#[agent(tools = [WriteFile, Compile, ReadFile, RunTests, Deploy])]
async fn code_master(goal: String) -> String;

/// You write code.
#[agent(tools = [WriteFile, Compile, ReadFile])]
async fn coder(task: String) -> String;

/// You test code.
#[agent(tools = [ReadFile, RunTests])]
async fn tester(task: String) -> String;

fn organisation(db: Db) -> impl Agent<In = String, Out = String> {
    let team = structure!(
        Project::new(db)
            .budget(tokens(500_000).time(minutes(30)))
            .delegates(
                SpecMaster
                    .grants([CreateSpec, SearchSpec, DrawUml])
                    .delegates(UmlDrawer.grants([DrawUml])),
                CodeMaster
                    .grants([WriteFile, Compile, ReadFile, RunTests])
                    .confirm([Deploy])
                    .delegates(
                        Coder.grants([WriteFile, Compile]),
                        Tester.grants([ReadFile, RunTests])
                    ),
            )
    );
    team.check().expect("the team is well built");
    team
}

#[derive(Serialize, Deserialize)]
pub enum Verdict {
    Passed(String),
    Failed(Vec<String>),
}

use Verdict::{Failed, Passed};

/// Reviews.
#[agent]
fn review(code: String) -> Verdict {
    if code.is_empty() {
        Failed(vec!["nothing there".into()])
    } else {
        Passed(code)
    }
}

/// Deploys.
#[agent]
fn deployer(code: String) -> String {
    code
}

pub struct Reporter {
    to: String,
}

#[agent]
impl Reporter {
    /// Reports.
    #[skill]
    fn report(&self, defects: Vec<String>) -> String {
        format!("{}: {}", self.to, defects.join(", "))
    }
}

/// Speaks.
#[agent]
fn analyst(heard: Transcript<String>) -> String {
    heard.topic
}

/// Decides.
#[agent]
fn captain(heard: Transcript<String>) -> String {
    heard.to_string()
}

pub(super) fn main() {
    let reporter = Reporter { to: "ann".into() };
    let routed = branch!(
        Review,
        match verdict {
            Passed(p) => Deployer.run(p),
            Failed(f) => reporter.run(f),
        }
    );
    let verdict = forum((Analyst, Analyst)).captain(Captain);
    let all = organisation(Db).then(verdict).then(routed);
    assert_eq!(
        all.name(),
        "project > forum(analyst, analyst ► captain) > routed(review)"
    );
}
