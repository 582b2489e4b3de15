//! Scores the reader on arguments that a small model wrote, one case per line.
//!
//! `cargo run --release --example small_model_score -- FILE.jsonl… [--by FIELD] [--without VALUE…]`
//!
//! A case has the model's text as `input`, its `schema`, and `acceptable`: the right values of each field. The value
//! `""` means that the field may be missing.
//!
//! If a server answers at `OLLAMA_HOST`, a second line scores repairs. The same texts are then arguments of real
//! calls, and a repair agent is asked up to three times about each call that does not fit. `AGENTS_MODEL` names its
//! model. Like any repair agent, it may escalate a call or end its run. `--show repairs` prints what happens in the run
//! of each call.

#![allow(clippy::print_stdout)] // The result is printed.

#[allow(dead_code, reason = "each example uses a part of it")]
mod score;

use agents::{
    Ollama,
    agent::ModelAgent,
    console::line,
    prelude::*,
    reader::Schema,
    testing::{Script, ScriptedModel},
    tool::{Effects, FnTool},
};
use score::{Options, equal};
use serde_json::Value;
use std::{convert::Infallible, env, fmt, time::Duration};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let options = Options::from_args("small_model_score");
    let repairs = has_model().await;
    for file in &options.files {
        let cases = options.cases(file);
        let read: Vec<_> = cases.iter().map(read).collect();
        options.print::<Score>(file, cases.iter().zip(judged(&cases, &read, &options)));
        if !repairs {
            continue;
        }
        let mut repaired = Vec::new();
        for case in &cases {
            repaired.push(call(case, &options).await);
        }
        let title = format!("{file} repaired");
        options.print::<Score>(
            &title,
            cases.iter().zip(judged(&cases, &repaired, &options)),
        );
    }
}

/// Value of a text, or the reason why it was refused.
type Reading = Result<Value, String>;

fn input(case: &Value) -> &str {
    case["input"].as_str().unwrap_or_default()
}

/// Reads the text of a case by the reader alone, without a repair agent.
fn read(case: &Value) -> Reading {
    let schema = Schema::new(&case["schema"]);
    let reading = schema
        .read(input(case))
        .map_err(|refusal| refusal.to_string())?;
    serde_json::from_str(&reading.json).map_err(|error| error.to_string())
}

/// You mend the arguments of a tool call. Answer with the corrected JSON object and nothing else. Use
/// only values that the given text holds.
#[agent(
    model = small_model().temperature(0.0).num_predict(120),
    budget(max_turns = 2, time = Duration::from_secs(300)),
)]
async fn json_fixer(request: String) -> String;

fn small_model() -> Ollama {
    ollama(env::var("AGENTS_MODEL").unwrap_or_else(|_| "smollm2:135m".into()))
}

/// Returns `true` if `OLLAMA_HOST` is set and its server can run the repair agent's model.
async fn has_model() -> bool {
    if env::var_os("OLLAMA_HOST").is_none_or(|host| host.is_empty()) {
        return false;
    }
    let probe: ModelAgent<'_, String, String> = AgentBuilder::new("probe")
        .budget(Budget::new().max_turns(1))
        .model(small_model())
        .build();
    let answer = probe.run("Say hello.").await;
    answer
        .inspect_err(|error| eprintln!("no repairs: {error}"))
        .is_ok()
}

/// An agent that calls its only tool.
struct Caller {
    tool: FnTool,
}

#[agent(prompt = "Call the tool.", tools = [self.tool.clone()])]
impl Caller {
    /// Calls the tool.
    #[skill]
    async fn call(&self, request: String) -> String;

    on_error!(match error {
        invalid_args(_, _) => fix(agent = JsonFixer, retries = 3),
        deserialization_error(_, _) => fix(agent = JsonFixer, retries = 3),
    });
}

/// Passes the text as arguments of a call, and returns the arguments that the tool received.
async fn call(case: &Value, options: &Options) -> Reading {
    let name = case["tool"].as_str().unwrap_or("tool");
    let schema = case["schema"].clone();
    let echo = |args, _| async move { Ok::<_, Infallible>(args) };
    let tool = FnTool::new(name, "", Effects::None, schema, echo);
    let (model, _) = ScriptedModel::new([Script::call(name, input(case)), Script::text("done")]);
    let caller = Caller { tool };
    let mut run = caller.run("Call it.").model(model);
    if options.show.as_deref() == Some("repairs") {
        let tell = |line| eprintln!("  {line}");
        run = run.on_event(move |event| _ = line(event, false).map(tell));
    }
    let outcome = run.outcome().await.map_err(|error| error.to_string())?;
    match outcome.outputs.last_tool {
        Some(receipt) => {
            let value = receipt.input.to_value();
            value.map_err(|error| error.to_string())
        }
        None => Err(outcome
            .result
            .map_or_else(|error| error.to_string(), |_| "refused".into())),
    }
}

/// Outcome of a case.
struct Judged {
    valid: bool,
    accepted: bool,
    invented: bool,
}

fn judged<'a>(
    cases: &'a [Value],
    readings: &'a [Reading],
    options: &'a Options,
) -> impl Iterator<Item = Judged> + 'a {
    cases.iter().zip(readings).map(|(case, reading)| {
        let judged = judge(case, reading);
        let shown = match options.show.as_deref() {
            Some("invented") => judged.invented,
            Some("refused") => reading.is_err(),
            Some("repairs") => false,
            Some(_) => judged.valid && !judged.accepted,
            None => false,
        };
        if shown {
            eprintln!(
                "{}\n  input {}\n  read  {reading:?}",
                case["id"], case["input"]
            );
        }
        judged
    })
}

fn judge(case: &Value, reading: &Reading) -> Judged {
    let Ok(value) = reading else {
        return Judged {
            valid: false,
            accepted: false,
            invented: false,
        };
    };
    Judged {
        valid: Schema::new(&case["schema"])
            .fits(&value.to_string())
            .is_ok(),
        accepted: is_accepted(value, &case["acceptable"]),
        invented: !holds_all(input(case), value),
    }
}

/// Returns `true` if each value is acceptable and each missing field may be missing.
fn is_accepted(value: &Value, acceptable: &Value) -> bool {
    let (Some(given), Some(fields)) = (value.as_object(), acceptable.as_object()) else {
        return false;
    };
    given.keys().all(|name| fields.contains_key(name))
        && fields.iter().all(|(name, right)| {
            let mut right = right.as_array().into_iter().flatten();
            match given.get(name) {
                Some(value) => right.any(|right| is_right(value, right)),
                None => right.any(|right| right == ""),
            }
        })
}

/// Returns `true` if a value is equal to an acceptable one. The members of an acceptable object have lists of values
/// in turn.
fn is_right(value: &Value, right: &Value) -> bool {
    match (value, right) {
        (Value::Object(_), Value::Object(fields)) if fields.values().all(Value::is_array) => {
            is_accepted(value, right)
        }
        (Value::Array(values), Value::Array(rights)) => {
            values.len() == rights.len()
                && values
                    .iter()
                    .zip(rights)
                    .all(|(value, right)| is_right(value, right))
        }
        _ => equal(value, right, false),
    }
}

/// Returns `true` if a text holds every leaf of a value, up to case and the format of numbers.
fn holds_all(text: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => {
            let words = if *value {
                ["true", "yes", "1"]
            } else {
                ["false", "no", "0"]
            };
            words.iter().any(|word| plain(text).contains(word))
        }
        Value::Number(number) => holds_number(text, number.as_f64().unwrap_or(f64::NAN)),
        Value::String(value) => plain(text).contains(&plain(value)),
        Value::Array(items) => items.iter().all(|item| holds_all(text, item)),
        Value::Object(members) => members.values().all(|value| holds_all(text, value)),
    }
}

/// Returns the letters and digits of a text in lower case.
fn plain(text: &str) -> String {
    let text = text.replace("\\n", " ").replace("\\t", " ");
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns `true` if a text holds a number, with or without thousands separators.
fn holds_number(text: &str, number: f64) -> bool {
    let inside = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let among = |text: &str| {
        let mut parts = text.split(|c| !inside(c));
        parts.any(|part| part.trim_matches(['.', 'e', 'E', '+']).parse() == Ok(number))
    };
    among(text) || among(&text.replace([',', '_', '\''], ""))
}

#[derive(Default)]
struct Score {
    valid: usize,
    accepted: usize,
    invented: usize,
    all: usize,
}

impl score::Score for Score {
    type Case = Judged;

    fn add(&mut self, case: &Judged) {
        self.valid += usize::from(case.valid);
        self.accepted += usize::from(case.accepted);
        self.invented += usize::from(case.invented);
        self.all += 1;
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score {
            valid,
            accepted,
            invented,
            all,
        } = self;
        write!(
            f,
            "{valid} valid, {accepted} accepted, {invented} invented of {all}"
        )
    }
}
