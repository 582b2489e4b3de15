use crate::world::worker;
use agents::{
    Agent, AgentBuilder, Budget, ErrorKind,
    model::Reply,
    record::{Recording, Replay},
    testing::{Script, ScriptedModel},
};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

/// A tape in memory.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn recorded(turns: usize) -> (agents::Outcome<String>, String) {
    let calls = (0..turns).map(|n| Script::call("add", format!(r#"{{"left":{n},"right":1}}"#)));
    let (model, _) = ScriptedModel::new(calls.chain([Script::text("done")]));
    let tape = Tape::default();
    let agent = worker::<String>();
    let outcome = agent
        .run("go")
        .model(model)
        .tape(Recording::to(tape.clone()))
        .outcome()
        .await
        .unwrap();
    (outcome, tape.text())
}

#[tokio::test]
async fn a_replay_is_the_run_again_to_the_byte() {
    let (first, tape) = recorded(3).await;
    let replay = Replay::parse(&tape).unwrap();
    let again = worker::<String>()
        .run("go")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    assert_eq!(replay.left(), 0);
    assert_eq!(again.run_id, first.run_id);
    assert_eq!(
        serde_json::to_string(&again.outputs).unwrap(),
        serde_json::to_string(&first.outputs).unwrap(),
        "receipts, their ids and their times"
    );
    assert_eq!(again.result.unwrap(), first.result.unwrap());
}

#[tokio::test]
async fn the_first_divergence_is_named() {
    let (_, tape) = recorded(2).await;
    let agent = worker::<String>();
    let error = agent
        .run("stop")
        .tape(Replay::parse(&tape).unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    assert_eq!(
        error.to_string(),
        "agent `worker`, turn 1: request 1 differs from the recording in message 2: recorded `go`, now `stop`"
    );
    let fewer = AgentBuilder::<String, String>::new("worker")
        .prompt("Work.")
        .build();
    let error = fewer
        .run("go")
        .tape(Replay::parse(&tape).unwrap())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("request 1 offers other tools"),
        "{error}"
    );
}

#[tokio::test]
async fn a_line_s_length_does_not_grow_with_the_conversation() {
    let (_, tape) = recorded(9).await;
    let exchanges: Vec<usize> = tape
        .lines()
        .filter(|line| line.contains("exchange"))
        .map(str::len)
        .collect();
    assert_eq!(exchanges.len(), 10);
    let (second, ninth) = (exchanges[1], exchanges[8]);
    assert!(ninth.abs_diff(second) < 20, "{exchanges:?}");
}

#[tokio::test]
async fn a_call_is_three_lines() {
    let (_, tape) = recorded(9).await;
    // Before them the first line of the tape; behind them the answer, the end, and when that was.
    assert_eq!(tape.lines().count(), 1 + 3 * 9 + 3, "{tape}");
}

#[tokio::test]
async fn a_tape_that_cannot_be_read_says_which_line() {
    let first = r#"{"tape":{"format":5,"run_id":"x","agent":"a","input":1}}"#;
    let error = Replay::parse(&format!("{first}\nnonsense")).unwrap_err();
    assert!(
        error.to_string().starts_with("line 2 of the tape:"),
        "{error}"
    );
    let error = Replay::parse("").unwrap_err();
    assert!(
        error.to_string().contains("is it a tape at all?"),
        "{error}"
    );
    let error = Replay::parse("{\"tape\":{\"format\":99,\"run_id\":\"x\"}}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1 of the tape: it has format 99; this version reads format 5"
    );
    // And which file.
    let error = Replay::open("of/nobody.jsonl").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(
        error.to_string().starts_with("of/nobody.jsonl: "),
        "{error}"
    );
    let error = Recording::create("of/nobody.jsonl").err().unwrap();
    assert!(
        error.to_string().starts_with("of/nobody.jsonl: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_recording_that_fails_says_so_and_the_run_goes_on() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("no space left"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let recording = Recording::to(Full);
    let (model, _) = ScriptedModel::new([Script::text("hi")]);
    let answer = worker::<String>()
        .run("go")
        .model(model)
        .tape(recording.clone())
        .await
        .unwrap();
    assert_eq!(answer, "hi");
    for _ in 0..2 {
        assert_eq!(recording.finish().unwrap_err().to_string(), "no space left");
    }
}

#[tokio::test]
async fn a_recording_that_failed_does_not_go_on_behind_a_hole() {
    /// Has no room for the second line, and room again for what follows.
    struct Once(Tape, usize);
    impl Write for Once {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 += 1;
            match self.1 {
                2 => Err(io::Error::other("no space left")),
                _ => self.0.write(bytes),
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let tape = Tape::default();
    let recording = Recording::to(Once(tape.clone(), 0));
    let said = recording.clone();
    let (model, _) = ScriptedModel::new([Script::with(move |_| {
        said.finish().expect_err("it has failed already");
        Reply {
            content: "done".into(),
            ..Reply::default()
        }
    })]);
    let agent = worker::<String>();
    let run = agent.run("go").model(model);
    run.tape(recording.clone()).await.unwrap();
    assert_eq!(tape.text().lines().count(), 1);
    assert!(recording.finish().is_err());
}

#[tokio::test]
async fn a_recording_is_of_one_run() {
    let (model, handle) = ScriptedModel::new([Script::text("one"), Script::text("two")]);
    let (tape, agent) = (Tape::default(), worker::<String>());
    let recording = Recording::to(tape.clone());
    let mut chat = agent.chat().model(model);
    chat.send("go").tape(recording.clone()).await.unwrap();
    let first = tape.text();
    let error = chat.send("on").tape(recording.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    let said = "and cannot hold another one, of `worker`: make a `Recording` for each run";
    assert!(error.to_string().contains(said), "{error}");
    assert_eq!((tape.text(), handle.count()), (first, 1));
    recording.finish().unwrap();
    // The chat stands where it stood.
    assert_eq!(chat.send("on").await.unwrap(), "two");
    assert_eq!(handle.requests()[1].messages.len(), 4);
}

#[tokio::test]
async fn a_run_that_was_stored_goes_on_with_its_recording() {
    let (journal, tape) = (agents::run::MemoryJournal::new(), Tape::default());
    let recording = Recording::to(tape.clone());
    let call = Script::call("add", r#"{"left":1,"right":1}"#);
    let (model, _) = ScriptedModel::new([call, Script::text("done")]);
    let agent = worker::<String>();
    let run = agent.run("go").model(model).tape(recording.clone());
    run.journal(journal.clone()).await.unwrap();
    let stored = crate::world::put_down_after(&journal, "replied", 1);
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"left":1,"right":1}"#),
        Script::text("done"),
    ]);
    let run = agent.run("go").journal(stored.journal());
    let run = run.model(model).tape(recording);
    assert_eq!(run.await.unwrap(), "done");
}

#[tokio::test]
async fn a_run_within_a_tool_is_on_the_tape_whatever_was_said_about_it() {
    use agents::{Budget, Effects, tool::FnTool};
    use serde_json::json;
    let boss = || {
        let schema = json!({"type": "object"});
        let ask = FnTool::new("ask", "Asks.", Effects::None, schema, |_, _| async {
            let colleague = AgentBuilder::<String, String>::new("colleague").build();
            colleague
                .run("help")
                .budget(Budget::new().tokens(1000))
                .await
        });
        AgentBuilder::<String, String>::new("boss")
            .tool(ask)
            .build()
    };
    let script = [
        Script::call("ask", "{}"),
        Script::text("here"),
        Script::text("done"),
    ];
    let (model, _) = ScriptedModel::new(script);
    let tape = Tape::default();
    let first = boss()
        .run("go")
        .model(model)
        .tape(Recording::to(tape.clone()))
        .outcome()
        .await
        .unwrap();
    assert_eq!(first.usage.requests, 3, "what it cost is the caller's, too");
    let replay = Replay::parse(&tape.text()).unwrap();
    let again = boss()
        .run("go")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    assert_eq!(replay.left(), 0);
    assert_eq!(
        serde_json::to_value(&again.outputs).unwrap(),
        serde_json::to_value(&first.outputs).unwrap()
    );
}

#[tokio::test]
async fn what_two_conversations_begin_with_is_on_the_tape_once() {
    use agents::{Effects, tool::FnTool};
    use serde_json::json;
    let boss = || {
        let schema = json!({"type": "object"});
        let ask = FnTool::new("ask", "Asks.", Effects::None, schema, |_, _| async {
            let colleague =
                AgentBuilder::<String, String>::new("colleague").prompt("You know the sea.");
            let colleague = colleague.build();
            let first = colleague.run("How deep?").await?;
            Ok::<_, agents::Error>(first + &colleague.run("How wide?").await?)
        });
        AgentBuilder::<String, String>::new("boss")
            .tool(ask)
            .build()
    };
    let texts = ["deep", "wide", "done"].map(Script::text);
    let (model, _) = ScriptedModel::new([Script::call("ask", "{}")].into_iter().chain(texts));
    let tape = Tape::default();
    let agent = boss();
    let run = agent.run("go").model(model);
    assert_eq!(run.tape(Recording::to(tape.clone())).await.unwrap(), "done");
    let text = tape.text();
    assert_eq!(text.matches("You know the sea.").count(), 1, "{text}");
    assert!(
        text.contains(r#""after":{"exchange":2,"messages":1}"#),
        "{text}"
    );
    let replay = Replay::parse(&text).unwrap();
    assert_eq!(boss().run("go").tape(replay.clone()).await.unwrap(), "done");
    assert_eq!(replay.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ended_while_the_model_was_thinking_ends_so_again() {
    use agents::{
        Budget, Model, async_trait,
        model::{ModelError, Reply, Request},
    };
    struct Thinker;
    #[async_trait]
    impl Model for Thinker {
        fn id(&self) -> &str {
            "thinker"
        }
        async fn chat(&self, _: Request<'_>) -> Result<Reply, ModelError> {
            std::future::pending().await
        }
    }
    let budget = || Budget::new().time(std::time::Duration::from_secs(5));
    let tape = Tape::default();
    let agent = worker::<String>();
    let run = agent
        .run("go")
        .model(Thinker)
        .budget(budget())
        .tape(Recording::to(tape.clone()));
    let first = run.outcome().await.unwrap();
    let again = agent
        .run("go")
        .budget(budget())
        .tape(Replay::parse(&tape.text()).unwrap())
        .outcome()
        .await
        .unwrap();
    assert!(first.stopped.is_some());
    assert_eq!(again.stopped, first.stopped);
}

#[tokio::test]
async fn a_turn_takes_as_many_bytes_at_the_end_as_at_the_beginning() {
    let call = || Script::call("add", r#"{"left":1,"right":1}"#);
    let script = std::iter::repeat_with(call).take(40);
    let (model, _) = ScriptedModel::new(script.chain([Script::text("done")]));
    let tape = Tape::default();
    let agent = AgentBuilder::<String, String>::new("adder")
        .tool(crate::world::Add)
        .budget(
            Budget::new()
                .max_turns(50)
                .max_recursion(100)
                .max_tool_calls(50),
        );
    let agent = agent.build();
    let run = agent.run("go").model(model);
    run.tape(Recording::to(tape.clone())).await.unwrap();
    // Everything on the tape between one model's turn and the next.
    let mut turns = vec![0];
    for line in tape.text().lines() {
        *turns.last_mut().unwrap() += line.len();
        if line.contains(r#"{"exchange":"#) {
            turns.push(0);
        }
    }
    // Two digits more in a place, an ordinal, a time.
    assert!(turns[38].abs_diff(turns[3]) < 40, "{turns:?}");
}
