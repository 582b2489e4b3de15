//! A pipeline: what one agent gives, the next one takes; three review at once; a draft is made again
//! until it is good enough. What is put together is an agent, and a type that does not fit is an
//! error when it is compiled.
//!
//! `cargo run --example pipeline`
//!
//! These agents are plain functions, so that nothing but the composition is to be seen; any of them
//! could be driven by a model.

use agents::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Draft {
    text: String,
    score: u32,
}

/// Takes a request apart.
#[agent]
fn parse(request: String) -> Vec<String> {
    request.split(" and ").map(str::to_owned).collect()
}

/// Writes a draft.
#[agent]
fn write(points: Vec<String>) -> Draft {
    Draft {
        text: points.join("; "),
        score: 40,
    }
}

/// Makes a draft better.
#[agent]
fn improve(draft: Draft) -> Draft {
    println!("  improved from {}", draft.score);
    Draft {
        text: format!("{}!", draft.text),
        score: draft.score + 30,
    }
}

/// Looks for holes.
#[agent]
fn security(draft: Draft) -> String {
    format!("no holes in {:?}", draft.text)
}

/// Looks at the style.
#[agent]
fn style(draft: Draft) -> String {
    format!("{} exclamation marks", draft.text.matches('!').count())
}

/// Looks at the speed.
#[agent]
fn performance(draft: Draft) -> String {
    format!("{} bytes", draft.text.len())
}

/// Makes one report of three.
#[agent]
fn merge(reports: (String, String, String)) -> String {
    let (security, style, performance) = reports;
    format!("{security}; {style}; {performance}")
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let good_enough = Improve
        .until(|draft: Draft| match draft.score >= 90 {
            true => Done(draft),
            false => Again(draft),
        })
        .at_most(5);
    let report = Parse
        .then(Write)
        .then(good_enough)
        .then((Security, Style, Performance))
        .then(Merge);
    println!("{}", report.name());
    println!("= {}", report.run("a lexer and a parser").await?);
    Ok(())
}
