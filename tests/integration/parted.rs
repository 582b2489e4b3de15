//! A replay that parts from its recording ends there, wherever that is, and so does a tape that breaks off.

use crate::recording::Tape;
use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Outcome,
    prelude::*,
    record::{Bundle, Recording, Replay},
    run::Stopped,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;

/// Weighs the anchor.
#[agents::tool(writes)]
async fn weigh(
    /// How many fathoms of chain.
    fathoms: u32,
) -> String {
    format!("{fathoms} fathoms up")
}

/// You are at the capstan.
#[agent(tools = [Weigh])]
async fn hand(order: String) -> String;

/// You hand orders on.
#[agent]
async fn mate(order: String) -> String;

/// You command.
#[agent]
async fn captain(order: String) -> String;

macro_rules! crew {
    () => {
        structure!(Captain.delegates(Mate.delegates(Hand)))
    };
}

fn orders() -> ScriptedModel {
    let (model, _) = ScriptedModel::new([
        Script::call("mate", r#"{"input": "sail"}"#),
        Script::call("hand", r#"{"input": "anchor"}"#),
        Script::call("weigh", r#"{"fathoms": 9}"#),
        Script::text("up"),
        Script::text("aye"),
        Script::text("we sail"),
    ]);
    model
}

/// The run ended where it parted, and says so everywhere in the same words.
fn parted_in(outcome: &Outcome<String>, replay: &Replay, place: &str) {
    let parted = replay.divergence().unwrap();
    assert!(parted.place.contains(place), "{}", parted.place);
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    let reason = error.to_string();
    assert!(reason.ends_with(&parted.to_string()), "{reason}");
    assert_eq!(outcome.stopped, Some(Stopped::Diverged { reason }));
}

#[tokio::test]
async fn two_levels_down_in_a_team() {
    let tape = Tape::default();
    let team = crew!();
    let run = team.run("To sea!").model(orders());
    run.tape(Recording::to(tape.clone())).await.unwrap();
    let bundle = Bundle::parse(&tape.text()).unwrap();
    let weigh = bundle
        .envelopes()
        .position(|receipt| receipt.name == "weigh");
    let what_if = bundle.what_if();
    let replay = what_if
        .error(weigh.unwrap(), Code::Timeout, "stuck")
        .replay()
        .unwrap();
    let team = crew!();
    let again = team
        .run("To sea!")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    parted_in(&again, &replay, "/hand#");
    let error = again.result.unwrap_err().to_string();
    assert!(error.starts_with("agent `hand`, turn 2: "), "{error}");
    assert!(error.contains("now `ERROR TIMEOUT"), "{error}");
    // What was under way is left undone: nobody was told of it as of a failure.
    let names: Vec<_> = again
        .outputs
        .receipts()
        .map(|receipt| &*receipt.name)
        .collect();
    assert_eq!(names, ["mate", "hand", "weigh"]);
    let mate = again
        .outputs
        .receipts()
        .next()
        .unwrap()
        .error
        .as_ref()
        .unwrap();
    assert!(
        mate.message
            .starts_with("the run was ended from within this call"),
        "{}",
        mate.message
    );
}

#[tokio::test]
async fn in_the_first_request() {
    let tape = Tape::default();
    let (model, _) = ScriptedModel::new([Script::text("aye")]);
    let run = Hand.run("anchor").model(model);
    run.tape(Recording::to(tape.clone())).await.unwrap();
    let replay = Replay::parse(&tape.text()).unwrap();
    let again = Hand
        .run("sail")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    parted_in(&again, &replay, "turn0001");
}

/// A captain whose tool asks a hand, in a run of its own, and takes whatever comes of it.
fn asking(order: &'static str) -> agents::agent::ModelAgent<'static, String, String> {
    let schema = json!({"type": "object"});
    let ask = FnTool::new(
        "ask",
        "Asks a hand.",
        Effects::Reads,
        schema,
        move |_, _| async move {
            let outcome = Hand
                .run(order)
                .outcome()
                .await
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(
                outcome
                    .result
                    .unwrap_or_else(|error| format!("no answer: {error}")),
            )
        },
    );
    AgentBuilder::new("asking").tool(ask).build()
}

#[tokio::test]
async fn in_a_run_within_the_run() {
    let tape = Tape::default();
    let (model, _) = ScriptedModel::new([
        Script::call("ask", "{}"),
        Script::text("aye"),
        Script::text("we sail"),
    ]);
    let agent = asking("anchor");
    let run = agent.run("To sea!").model(model);
    run.tape(Recording::to(tape.clone())).await.unwrap();
    let replay = Replay::parse(&tape.text()).unwrap();
    let agent = asking("sails");
    let again = agent
        .run("To sea!")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    parted_in(&again, &replay, "/hand#");
}

#[tokio::test]
async fn a_tape_whose_last_line_breaks_off_is_read_to_there() {
    let tape = Tape::default();
    let team = crew!();
    let run = team.run("To sea! Ahoï").model(orders());
    run.tape(Recording::to(tape.clone())).await.unwrap();
    let tape = tape.text();
    let lines: Vec<_> = tape.lines().collect();
    let last = lines.len() - 1;
    let before = lines[..last].join("\n");
    let whole = Bundle::parse(&before).unwrap().envelopes().count();
    assert_eq!(whole, 3);
    for kept in 0..lines[last].len() {
        let torn = format!("{before}\n{}", &lines[last][..kept]);
        let bundle = Bundle::parse(&torn).unwrap();
        assert_eq!(bundle.envelopes().count(), whole, "{torn}");
    }
    // Within a character too, and so that nothing but the first line is left.
    let path = std::env::temp_dir().join(format!("agents-torn-{}.jsonl", std::process::id()));
    let cut = tape.find('ï').unwrap() + 1;
    assert!(cut < lines[0].len());
    let second = lines[0].len() + 1 + lines[1].find('ï').unwrap() + 1;
    std::fs::write(&path, &tape.as_bytes()[..second]).unwrap();
    let bundle = Bundle::open(&path).unwrap();
    assert_eq!(bundle.input::<String>().unwrap(), "To sea! Ahoï");
    std::fs::write(&path, &tape.as_bytes()[..cut]).unwrap();
    let error = Bundle::open(&path).unwrap_err().to_string();
    assert!(error.contains("is it a tape at all?"), "{error}");
    std::fs::remove_file(path).unwrap();

    // What breaks off in the middle was not left so by a power cut.
    let torn = tape.replacen(lines[1], &lines[1][..20], 1);
    let error = Bundle::parse(&torn).unwrap_err().to_string();
    assert!(error.starts_with("line 2 of the tape:"), "{error}");
}
