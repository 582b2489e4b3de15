//! Decodes a recorded reply of a model's server, and prints it as one line of JSON.
//!
//! `decode FORMAT [--framing body|sse|lines] [--chunk N] [--stop B]` reads a body from standard input, hands it to the
//! decoder N bytes at a time, and ends after B bytes as if the connection had broken. The formats are `openai-chat`,
//! `openai-responses`, `anthropic` and `gemini`.

use agents::{
    anthropic::MessagesReply,
    gemini::ContentReply,
    model::FinishReason,
    openai::{ChatReply, ResponsesReply},
};
use agents_http::{Decoder, Ending, Format, Framing, Problem, Progress};
use serde_json::{Value, json};
use std::{
    env,
    io::{self, Read, Write},
    process::ExitCode,
};

const USAGE: &str = "usage: decode openai-chat|openai-responses|anthropic|gemini [--framing body|sse|lines] \
                     [--chunk N] [--stop B] < BODY";

struct Options {
    format: String,
    framing: Option<Framing>,
    chunk: Option<usize>,
    stop: Option<usize>,
}

fn main() -> ExitCode {
    let Some(options) = options(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut body = Vec::new();
    if let Err(error) = io::stdin().read_to_end(&mut body) {
        eprintln!("standard input cannot be read: {error}");
        return ExitCode::FAILURE;
    }
    let line = match &*options.format {
        "openai-chat" => decoded(ChatReply::default(), &body, &options),
        "openai-responses" => decoded(ResponsesReply::default(), &body, &options),
        "anthropic" => decoded(MessagesReply::default(), &body, &options),
        "gemini" => decoded(ContentReply::default(), &body, &options),
        other => {
            eprintln!("`{other}` is no format\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options {
        format: args.next()?,
        framing: None,
        chunk: None,
        stop: None,
    };
    while let Some(name) = args.next() {
        let value = args.next()?;
        match &*name {
            "--framing" => {
                options.framing = Some(match &*value {
                    "body" => Framing::Document,
                    "sse" => Framing::Events,
                    "lines" => Framing::Lines,
                    _ => return None,
                });
            }
            "--chunk" => options.chunk = Some(value.parse().ok().filter(|chunk| *chunk > 0)?),
            "--stop" => options.stop = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(options)
}

fn decoded(format: impl Format, body: &[u8], options: &Options) -> Value {
    let mut decoder = match options.framing {
        Some(framing) => Decoder::framed(format, framing),
        None => Decoder::new(format),
    };
    let stop = options.stop.unwrap_or(body.len()).min(body.len());
    let ending = match stop < body.len() {
        true => Ending::BrokeOff,
        false => Ending::Closed,
    };
    let mut chunks = body[..stop].chunks(options.chunk.unwrap_or(usize::MAX));
    let error = chunks
        .try_for_each(|chunk| decoder.on(chunk, None))
        .and_then(|()| decoder.end(ending, None))
        .err();
    line(decoder, error)
}

fn line(decoder: Decoder<impl Format>, error: Option<Problem>) -> Value {
    let is_complete = decoder.progress() >= Progress::Complete;
    let reply = decoder.into_reply();
    let usage = reply.usage;
    // The contract has no word for other reasons.
    let is_other = matches!(reply.finish, FinishReason::Other(_));
    let calls = reply.calls.iter();
    json!({
        "text": reply.content,
        "calls": calls
            .map(|call| json!({ "name": call.name, "arguments": call.arguments }))
            .collect::<Vec<_>>(),
        "finish": (is_complete && !is_other).then_some(&reply.finish),
        "usage": (usage.tokens() > 0)
            .then(|| json!({ "input": usage.input_tokens, "output": usage.output_tokens })),
        "error": error.map(|error| error.to_string()),
    })
}
