use agents::prelude::*;

/// You parse.
#[agent]
async fn parse(text: String) -> String;

/// Shouts.
#[agent]
fn shout(text: String) -> String {
    text.to_uppercase()
}

fn main() {
    let _ = Parse.chat();
    let _ = Shout.chat();
    let _ = Parse.then(Shout).chat();
}
