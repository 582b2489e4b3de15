use agents::prelude::*;

const SKILLS: &str = "skills/";

/// You misspell a folder.
#[agent(knowledge = dir!("skils/"))]
async fn misspelt(letter: String) -> String;

/// You live on one machine.
#[agent(knowledge = dir!("/home/ann/skills/"))]
async fn of_one_machine(letter: String) -> String;

/// You name a constant.
#[agent(knowledge = dir!(SKILLS))]
async fn by_a_constant(letter: String) -> String;

/// Asks no model.
#[agent(knowledge = dir!("skills/"))]
fn native(letter: String) -> String {
    letter
}

/// You call it by the other word.
#[agent(skills = dir!("skills/"))]
async fn skilled(letter: String) -> String;

fn main() {}
