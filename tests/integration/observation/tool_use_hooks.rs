//! The hook `on_tool_use` is called once for every call, however it ended.

use crate::world::{Add, Wait, scripted_agent};
use agents::{
    Agent, AgentBuilder, Budget, CancellationToken, Json, Outcome, agent,
    error::ErrorRecord,
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Lines recorded by the `on_tool_use` hooks, with the name of the hook.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn hook(
        &self,
        who: &'static str,
    ) -> impl Fn(&str, &Json, Result<&Json, &ErrorRecord>) + Send + Sync + 'static {
        let told = self.0.clone();
        move |name, _, result| {
            let result = match result {
                Ok(_) => "done",
                Err(error) if error.message.contains("cut off") => "cut off",
                Err(error) if error.message.contains("before this call") => "not begun",
                Err(_) => "failed",
            };
            told.lock().unwrap().push(format!("{who}: {name} {result}"));
        }
    }

    fn sorted(&self) -> Vec<String> {
        let mut told = self.0.lock().unwrap().clone();
        told.sort();
        told
    }
}

fn time() -> Budget {
    Budget::new().time(Duration::from_secs(2))
}

/// An agent whose hook records the use of its tools.
#[derive(Clone, Default)]
struct Recorder {
    told: Told,
}

#[agent(
    prompt = "You do sums.",
    tools = [Add],
    on_tool_use = |name, args, result| self.note(name, args, result),
)]
impl Recorder {
    /// Does a sum.
    #[skill]
    async fn sum(&self, task: String) -> String;

    fn note(&self, name: &str, args: &Json, result: Result<&Json, &ErrorRecord>) {
        self.told.hook("definition")(name, args, result);
    }
}

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// You do sums.
#[agent(tools = [Add], on_tool_use = |name, args, _| SEEN.lock().unwrap().push(format!("{name} {args}")))]
async fn adder(task: String) -> String;

#[tokio::test]
async fn the_definition_of_an_agent_says_who_is_told() {
    let recorder = Recorder::default();
    let script = || [Script::call("add", SUM), Script::text("3")];
    for _ in 0..2 {
        let (model, _) = ScriptedModel::new(script());
        recorder.run("1 + 2").model(model).await.unwrap();
    }
    assert_eq!(recorder.told.sorted(), ["definition: add done"; 2]);
    let (model, _) = ScriptedModel::new(script());
    Adder.run("1 + 2").model(model).await.unwrap();
    assert_eq!(*SEEN.lock().unwrap(), [format!("add {SUM}")]);
}

const NAP: &str = r#"{"millis": 60000}"#;
const SUM: &str = r#"{"left": 1, "right": 2}"#;

/// Checks that the run's hook was called once for each receipt.
fn are_all(told: &Told, outcome: &Outcome<String>) {
    let of_run = told
        .sorted()
        .iter()
        .filter(|line| line.starts_with("run"))
        .count();
    assert_eq!(of_run, outcome.outputs.receipts().count());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_end_of_the_run_cuts_off_is_told() {
    let told = Told::default();
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Add)
        .tool(Wait)
        .on_tool_use(told.hook("agent"))
        .build();
    let (model, _) = ScriptedModel::new([
        Script::call("add", SUM),
        Script::calls([("wait", NAP), ("nope", "{}")]),
    ]);
    let run = clerk.run("go").model(model).budget(time());
    let outcome = run.on_tool_use(told.hook("run")).outcome().await.unwrap();
    assert!(outcome.result.is_err());
    assert_eq!(
        told.sorted(),
        [
            "agent: add done",
            "agent: nope failed",
            "agent: wait cut off",
            "run: add done",
            "run: nope failed",
            "run: wait cut off",
        ]
    );
    are_all(&told, &outcome);
}

#[tokio::test(start_paused = true)]
async fn those_of_an_agent_below_are_told_by_it_and_by_the_run() {
    let told = Told::default();
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .description("Rests.")
        .tool(Wait)
        .on_tool_use(told.hook("clerk"))
        .build();
    let lead = AgentBuilder::<String, String>::new("lead").on_tool_use(told.hook("lead"));
    let lead = agents::team::Member::new(lead.build())
        .delegate(clerk)
        .build();
    let (model, _) = ScriptedModel::new([
        Script::call("clerk", r#"{"input": "rest"}"#),
        Script::call("wait", NAP),
    ]);
    let run = lead.run("go").model(model).budget(time());
    let outcome = run.on_tool_use(told.hook("run")).outcome().await.unwrap();
    assert_eq!(
        told.sorted(),
        [
            "clerk: wait cut off",
            "lead: clerk cut off",
            "run: clerk cut off",
            "run: wait cut off",
        ]
    );
    are_all(&told, &outcome);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_tells_of_its_calls() {
    let told = Told::default();
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Wait)
        .build();
    let (model, _) = ScriptedModel::new([Script::call("wait", NAP)]);
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let run = clerk.run("go").model(model).cancel(token);
    let outcome = run.on_tool_use(told.hook("run")).outcome().await.unwrap();
    assert_eq!(told.sorted(), ["run: wait cut off"]);
    are_all(&told, &outcome);
}

#[tokio::test(start_paused = true)]
async fn an_agent_whose_own_time_is_over_tells_of_its_calls() {
    let told = Told::default();
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Wait)
        .budget(time())
        .on_tool_use(told.hook("agent"))
        .build();
    let (model, _) = ScriptedModel::new([Script::call("wait", NAP)]);
    let run = clerk.run("go").model(model);
    let outcome = run.on_tool_use(told.hook("run")).outcome().await.unwrap();
    assert_eq!(told.sorted(), ["agent: wait cut off", "run: wait cut off"]);
    are_all(&told, &outcome);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_dropped_tells_of_its_calls() {
    let told = Told::default();
    let slow = scripted_agent("slow", [Script::call("wait", NAP)])
        .tool(Wait)
        .on_tool_use(told.hook("agent"))
        .build();
    let quick = scripted_agent("quick", [Script::text("first")]).build();
    let race = agents::compose::first_of((slow, quick));
    let run = race.run("go").on_tool_use(told.hook("run"));
    let outcome = run.outcome().await.unwrap();
    are_all(&told, &outcome);
    let told = told.sorted();
    assert!(
        told.len() == 2 * outcome.outputs.receipts().count(),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_run_that_nobody_waits_for_any_more_tells_of_its_calls() {
    let told = Told::default();
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(Wait)
        .on_tool_use(told.hook("agent"))
        .build();
    let (model, _) = ScriptedModel::new([Script::call("wait", NAP)]);
    let run = clerk.run("go").model(model).on_tool_use(told.hook("run"));
    let run = tokio::time::timeout(Duration::from_millis(50), run.outcome());
    assert!(run.await.is_err());
    assert_eq!(told.sorted(), ["agent: wait cut off", "run: wait cut off"]);
}
