//! A pipeline: each agent takes the output of the one before, three agents review at once, and a draft is improved
//! until it is good enough. A composition is an agent again, and the compiler checks that the types fit.
//!
//! `cargo run --example pipeline`
//!
//! These agents are plain functions, so that the example shows only the composition. Any of them could be driven by a
//! model.

use agents::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Draft {
    text: String,
    score: u32,
}

/// Splits a request into points.
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

/// Improves a draft.
#[agent]
fn improve(draft: Draft) -> Draft {
    println!("  improved from {}", draft.score);
    Draft {
        text: format!("{}!", draft.text),
        score: draft.score + 30,
    }
}

/// Reviews the security.
#[agent]
fn security(draft: Draft) -> String {
    format!("no holes in {:?}", draft.text)
}

/// Reviews the style.
#[agent]
fn style(draft: Draft) -> String {
    format!("{} exclamation marks", draft.text.matches('!').count())
}

/// Reviews the speed.
#[agent]
fn performance(draft: Draft) -> String {
    format!("{} bytes", draft.text.len())
}

/// Merges three reports into one.
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
