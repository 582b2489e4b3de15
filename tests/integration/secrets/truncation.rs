//! Puts a secret across every place where texts are cut, and checks that at most a few of its characters are left.

use crate::world::Buffer;
use crate::world::{Plain, scripted_agent};
use agents::{
    Agent, AgentBuilder, Effects, Outcome,
    agent::Run,
    compose::Step,
    journal::MemoryJournal,
    recovery::*,
    testing::{Script, ScriptedModel},
    timeline,
    tool::FnTool,
};
use serde_json::json;

const SECRET: &str = "hunter2-Z9#q!W7&tt";

/// Returns a text with `kept` characters of the secret before the cut at `at` characters.
fn across(at: usize, kept: usize) -> String {
    let before = "x".repeat(at.saturating_sub(kept));
    format!("{before}{SECRET}{}", "z".repeat(at + 100))
}

/// Runs an agent, and returns all written text.
async fn written<A: Agent>(run: Run<'_, A>) -> String
where
    A::Out: std::fmt::Debug,
{
    let kept = Buffer::default();
    let (events, journal) = (kept.clone(), MemoryJournal::new());
    let live = timeline::live_to(kept.clone(), true);
    let outcome: Outcome<A::Out> = run
        .secret("k", SECRET.to_owned())
        .on_event(move |event| {
            live(event);
            events.note(format!("{event:?}"));
        })
        .journal(journal.clone())
        .outcome()
        .await
        .unwrap();
    kept.note(serde_json::to_string(&journal.entries()).unwrap());
    kept.note(serde_json::to_string(&outcome.outputs).unwrap());
    kept.note(format!("{outcome:?}"));
    kept.note(timeline::of(&outcome).width(300).to_string());
    if let Err(error) = &outcome.result {
        kept.note(format!("{error} {error:?}"));
    }
    kept.text()
}

/// Returns the parts of the secret that occur in a text; a part has five characters.
fn left(written: &str) -> Vec<&str> {
    let parts = (0..SECRET.len() - 5).map(|from| &SECRET[from..from + 5]);
    parts.filter(|part| written.contains(part)).collect()
}

/// Creates an agent with one tool that takes `say` and a number `n`, and fails with `say`. Its arms also fail with it.
fn agent(script: impl IntoIterator<Item = Script>) -> Plain<String, u32> {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "say": {"type": "string"}, "fail": {"type": "boolean"},
    }});
    let tool = FnTool::new("t", "T.", Effects::Reads, schema, |args, _| async move {
        let said = args["say"].as_str().unwrap_or_default().to_owned();
        match args["fail"].as_bool() {
            Some(true) => Err(std::io::Error::other(said)),
            _ => Ok(said),
        }
    });
    let (model, _) = ScriptedModel::new(script);
    AgentBuilder::<String, u32>::new("a")
        .tool(tool)
        .model(model)
        .build()
}

#[tokio::test]
async fn the_beginning_of_a_secret_is_hidden_wherever_a_text_is_cut() {
    for kept in 1..=SECRET.len() + 2 {
        let call = |args: String| Script::call("t", args);
        let said = |at: usize| json!({ "say": across(at, kept) }).to_string();
        let failing = |at: usize| json!({ "say": across(at, kept), "fail": true }).to_string();
        let quoted = r#"{"say":""#.len();
        let calls = [
            ("raw arguments", call(across(2_000, kept))),
            (
                "a value of another type",
                call(json!({ "n": across(2_000 - 6, kept) }).to_string()),
            ),
            (
                "a value in a message",
                call(json!({ "n": across(40 - 1, kept) }).to_string()),
            ),
            (
                "a key in a message",
                call(json!({ across(60, kept): 1, "n": "x" }).to_string()),
            ),
            ("a failure", call(failing(16_000))),
            ("an output", call(said(1_000))),
            ("an input", call(said(2_000 - quoted))),
        ];
        for (what, first) in calls {
            let script = [first, Script::text("7")];
            let written = written(agent(script).run("go").max_output_bytes(1_000)).await;
            assert_eq!(
                left(&written),
                [""; 0],
                "{what}, {kept} characters before the cut"
            );
            assert!(written.contains("[secret:k]") || kept < 4, "{what}, {kept}");
        }
        let long = [call(across(2_000, kept)), Script::text("7")];
        let written_of = written(agent(long).run("go").max_argument_bytes(3_000)).await;
        assert_eq!(left(&written_of), [""; 0], "too long, {kept}");

        let answers = [
            Script::text(across(40, kept)),
            Script::text(json!(across(39, kept)).to_string()),
            Script::text("7"),
        ];
        let written_of = written(agent(answers).run("go")).await;
        assert_eq!(left(&written_of), [""; 0], "an answer, {kept}");
    }
}

#[tokio::test]
async fn what_arms_give_and_what_was_there_are_hidden_before_they_are_cut() {
    for kept in 1..=SECRET.len() + 2 {
        let schema = json!({"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]});
        let tool = FnTool::new("t", "T.", Effects::Reads, schema, |_, _| async {
            Ok::<_, std::io::Error>(1)
        })
        .on_error(move |error, _| match error {
            CallError::InvalidArgs(..) => {
                let given: Decision<InvalidArgs> =
                    fix(format!("y{}", across(199, kept))).or(fix("{\"say\":\"\"}".to_owned()));
                Some(given.into())
            }
            _ => None,
        });
        let (model, _) = ScriptedModel::new([
            Script::call("t", across(200, kept)),
            Script::call(
                "t",
                json!({"say": "", across(200, kept): across(200, kept)}).to_string(),
            ),
            Script::text("7"),
        ]);
        let agent = AgentBuilder::<String, u32>::new("a")
            .tool(tool)
            .model(model)
            .build();
        let written = written(agent.run("go")).await;
        assert!(written.contains("in vain"), "{written}");
        assert_eq!(left(&written), [""; 0], "{kept}");
    }
}

#[tokio::test]
async fn the_last_of_a_loop_is_hidden_where_it_is_cut() {
    for kept in 1..=SECRET.len() + 2 {
        let draft = scripted_agent("draft", [Script::text(across(300 - 1, kept))]).build();
        let refine = draft
            .until(|draft: String| Step::<String, String>::Again(draft))
            .at_most(1);
        let written = written(refine.run("go".to_owned())).await;
        assert!(written.contains("used up"), "{written}");
        assert_eq!(left(&written), [""; 0], "{kept}");
    }
}
