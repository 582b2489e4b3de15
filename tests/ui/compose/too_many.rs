//! A tuple of agents has a limit, as all that is said of tuples has.
use agents::{
    compose::{Transcript, first_of, forum, settled},
    prelude::*,
};

/// Shouts.
#[agent]
fn shout(text: String) -> String {
    text.to_uppercase()
}

/// Sees what could be gained.
#[agent]
fn optimist(talk: Transcript<String>) -> String {
    talk.topic
}

fn main() {
    let nine = (
        Shout, Shout, Shout, Shout, Shout, Shout, Shout, Shout, Shout,
    );
    let _ = nine.run("ah");
    let _ = nine.map(|shouts| shouts.0);
    let _ = Shout.then(nine);
    let _ = settled(nine);
    let _ = first_of(nine);
    let _ = forum((
        Optimist, Optimist, Optimist, Optimist, Optimist, Optimist, Optimist, Optimist, Optimist,
    ))
    .captain(Optimist);
}
