use agents::prelude::*;

/// You pay customers back.
#[agent]
async fn refunds(message: String) -> String;

/// You count.
#[agent]
async fn count(message: String) -> u32;

/// You find out what a customer wants.
#[agent(hand_off = [refunds])]
async fn triage(message: String) -> String;

/// You greet.
#[agent(hand_off = Refunds)]
async fn greeter(message: String) -> String;

/// You listen.
#[agent(hand_off = [Count])]
async fn listener(message: String) -> String;

/// Shouts.
#[agent(hand_off = [Refunds])]
fn shout(message: String) -> String {
    message.to_uppercase()
}

fn main() {}
