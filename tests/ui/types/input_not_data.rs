use agents::prelude::*;

struct Request;

/// You sum up.
#[agent]
async fn sum_up(request: Request) -> String;

/// Sums up.
#[agent]
fn sum(request: Request) -> usize {
    let Request = request;
    0
}

fn main() {}
