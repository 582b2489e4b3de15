//! A budget is written in one way wherever there is one.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
};

fn few() -> Budget {
    Budget::new().max_turns(3)
}

/// You read.
#[agent(budget(tokens(500).max_turns(3)))]
async fn reader(request: String) -> String;

/// You write.
#[agent(budget(few()))]
async fn writer(request: String) -> String;

pub(super) fn main() {
    let (model, _) = ScriptedModel::new([Script::text("done")]);
    let run = Reader
        .run("x")
        .budget(tokens(500).max_turns(3))
        .model(model);
    let team = structure!(
        Reader
            .budget(tokens(500).max_turns(3))
            .delegates(Writer.budget(few()))
    );
    drop((run, team));
}
