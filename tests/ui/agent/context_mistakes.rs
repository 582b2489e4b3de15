use agents::prelude::*;

/// Sums up a conversation.
#[agent]
async fn summariser(conversation: String) -> String;

/// By nobody.
#[agent(context = compact(at = 0.75))]
async fn first(task: String) -> String;

/// By somebody who has nothing to do.
#[agent(context = trim(at = 0.75, by = Summariser))]
async fn second(task: String) -> String;

/// Percent.
#[agent(context = trim(at = 75))]
async fn third(task: String) -> String;

/// Without a name.
#[agent(context = compact(Summariser))]
async fn fourth(task: String) -> String;

/// A part that there is not.
#[agent(context = trim(windows = 8192))]
async fn fifth(task: String) -> String;

/// A text.
#[agent(context = "trim")]
async fn sixth(task: String) -> String;

/// Twice.
#[agent(context = trim(at = 0.5, at = 0.7))]
async fn seventh(task: String) -> String;

/// No share at all.
#[agent(context = trim(at = 0))]
async fn eighth(task: String) -> String;

fn main() {}
