//! Decodes a recorded reply of a model's server, and prints it as one line of JSON.
//!
//! `decode FORMAT [--framing body|sse|lines] [--chunk N] [--stop B]` reads a body from standard input, hands it to the
//! decoder N bytes at a time, and ends after B bytes as if the connection had broken. The formats are `openai-chat`,
//! `openai-responses`, `anthropic` and `gemini`.

#[path = "score/wire.rs"]
mod wire;

use agents_http::Framing;
use std::{
    env,
    io::{self, Read, Write},
    process::ExitCode,
};
use wire::Delivery;

const USAGE: &str = "usage: decode openai-chat|openai-responses|anthropic|gemini [--framing body|sse|lines] \
                     [--chunk N] [--stop B] < BODY";

fn main() -> ExitCode {
    let Some((format, delivery)) = options(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut body = Vec::new();
    if let Err(error) = io::stdin().read_to_end(&mut body) {
        eprintln!("standard input cannot be read: {error}");
        return ExitCode::FAILURE;
    }
    let Some(line) = wire::decoded(&format, &body, delivery) else {
        eprintln!("`{format}` is no format\n{USAGE}");
        return ExitCode::from(2);
    };
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Option<(String, Delivery)> {
    let format = args.next()?;
    let mut delivery = Delivery::default();
    while let Some(name) = args.next() {
        let value = args.next()?;
        match &*name {
            "--framing" => {
                delivery.framing = Some(match &*value {
                    "body" => Framing::Document,
                    "sse" => Framing::Events,
                    "lines" => Framing::Lines,
                    _ => return None,
                });
            }
            "--chunk" => delivery.chunk = Some(value.parse().ok().filter(|chunk| *chunk > 0)?),
            "--stop" => delivery.stop = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some((format, delivery))
}
