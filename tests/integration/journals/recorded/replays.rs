//! Replays with the code of today: what was recorded is given again, and a change is named with its fact.

use super::{Runs, busy, one_of_each, recorded};
use crate::{
    bakery::{bakery, baking, run},
    world::Plain,
};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, ErrorKind,
    agent::{ModelAgent, Skill},
    journal::{self, Difference, MemoryJournal, Recorded, assert_replays, written},
    policy::{confirm_tools, deny_tools, named},
    run::{Approval, ApprovalRequest, RunContext},
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use proptest::{
    prelude::*,
    test_runner::{TestCaseError, TestRunner},
};
use serde_json::{Value, json};
use std::{io, time::Duration};

/// Code of an agent that pays, in one of its versions.
#[derive(Clone)]
struct Code {
    prompt: &'static str,
    version: &'static str,
    schema: Value,
    description: &'static str,
    /// Adds to the numbers that the pure tool is given.
    adds: u64,
}

impl Code {
    fn new() -> Code {
        Code {
            prompt: "Pay the bills.",
            version: "1.0.0",
            schema: json!({"type": "object", "properties": {"cents": {"type": "integer"}}}),
            description: "Pays.",
            adds: 0,
        }
    }

    fn agent(&self, runs: &Runs) -> Plain {
        let (paid, looked, adds) = (runs.clone(), runs.clone(), self.adds);
        let spec = ToolSpec::new(
            "pay",
            self.description,
            Effects::Writes,
            self.schema.clone(),
        );
        let spec = spec.version(self.version);
        let pay = FnTool::with_spec(spec, move |_, _| {
            let number = paid.one();
            async move { Ok::<_, io::Error>(format!("paid {number}")) }
        });
        let empty = json!({"type": "object"});
        let look = FnTool::new(
            "look",
            "Looks.",
            Effects::Reads,
            empty.clone(),
            move |_, _| {
                let number = looked.one();
                async move { Ok::<_, io::Error>(format!("the bill {number}")) }
            },
        );
        let sum = FnTool::new(
            "sum",
            "Adds.",
            Effects::None,
            empty,
            move |_, _| async move { Ok::<_, io::Error>(40 + adds) },
        );
        AgentBuilder::<String, String>::new("payer")
            .prompt(self.prompt)
            .tool(pay)
            .tool(look)
            .tool(sum)
            .build()
    }

    /// Replays a recording, and checks that no tool runs outside of this code.
    async fn replay(&self, recorded: &Recorded) -> Result<(), Difference> {
        let runs = Runs::default();
        let agent = self.agent(&runs);
        let replayed = agent
            .run(recorded.input::<String>().unwrap())
            .replay(recorded)
            .await;
        assert_eq!(runs.count(), 0, "a replay has no effect");
        replayed
    }

    async fn differs(&self, recorded: &Recorded, what: &str) {
        let difference = self.replay(recorded).await.unwrap_err();
        assert_eq!(difference.to_string(), what);
    }
}

fn script() -> [Script; 4] {
    [
        Script::calls([("look", "{}"), ("sum", "{}")]),
        Script::call("pay", r#"{"cents": 90}"#),
        Script::call("pay", r#"{"cents": 5}"#),
        Script::text("paid"),
    ]
}

async fn paid() -> Recorded {
    let (model, _) = ScriptedModel::new(script());
    let runs = Runs::default();
    let agent = Code::new().agent(&runs);
    let journal = MemoryJournal::new();
    let run = agent.run("bills".to_owned()).model(model);
    run.journal(journal.clone()).await.unwrap();
    assert_eq!(runs.count(), 3);
    Recorded::of(journal.entries()).unwrap()
}

fn kind(recorded: &Recorded, fact: u64) -> &str {
    recorded.entries()[usize::try_from(fact).unwrap() - 1].kind()
}

#[tokio::test]
async fn the_same_code_does_the_same_and_each_change_is_named_with_its_fact() {
    let recorded = paid().await;
    let code = Code::new();
    code.replay(&recorded).await.unwrap();

    let prompt = Code {
        prompt: "Pay the bill.",
        ..code.clone()
    };
    prompt
        .differs(&recorded, "request 1 differs from the recording in message 1: recorded `Pay the bills.`, now `Pay the bill.` (fact 2)")
        .await;
    assert_eq!(kind(&recorded, 2), "said");
    let schema = Code {
        schema: json!({"type": "object", "properties": {"cents": {"type": "number"}}}),
        ..code.clone()
    };
    schema
        .differs(
            &recorded,
            "request 1 offers other tools than were recorded: `pay` has another schema (fact 3)",
        )
        .await;
    assert_eq!(kind(&recorded, 3), "offered");
    let described = Code {
        description: "Pays at once.",
        ..code.clone()
    };
    described
        .differs(&recorded, "request 1 offers other tools than were recorded: `pay` has another description (fact 3)")
        .await;
    let version = Code {
        version: "2.0.0",
        ..code.clone()
    };
    let difference = version.replay(&recorded).await.unwrap_err();
    assert!(difference.to_string().starts_with(
        "the tool `pay` has version 2.0.0, and the recorded call is of version 1.0.0 (fact "
    ));
    assert_eq!(kind(&recorded, difference.fact.unwrap()), "begun");
    // A function without effects runs.
    let adds = Code { adds: 2, ..code };
    let difference = adds.replay(&recorded).await.unwrap_err();
    assert_eq!(
        (&*difference.recorded, &*difference.now, difference.message),
        ("40", "42", Some(5))
    );
    assert_eq!(kind(&recorded, difference.fact.unwrap()), "asked");
}

#[tokio::test]
async fn a_rule_that_denies_or_asks_is_a_difference() {
    let recorded = paid().await;
    let agent = Code::new().agent(&Runs::default());
    let run = || agent.run("bills".to_owned());
    let denied = run().policy(deny_tools("pay")).replay(&recorded).await;
    let denied = denied.unwrap_err();
    assert!(denied.to_string().contains("`pay`"), "{denied}");
    let asks = run()
        .policy(confirm_tools("pay"))
        .replay(&recorded)
        .await
        .unwrap_err();
    assert!(
        asks.to_string().starts_with(
            "the call of `pay` needs approval now, and needed none in the recording (fact "
        ),
        "{asks}"
    );
    assert_eq!(kind(&recorded, asks.fact.unwrap()), "taken_up");
    // An approver of today is not asked.
    let yes = |_: ApprovalRequest| async { panic!("nobody is asked") as Approval };
    let run = run().policy(confirm_tools("pay")).approver(yes);
    run.replay(&recorded).await.unwrap_err();
}

#[tokio::test]
async fn recorded_decisions_are_given_again() {
    let runs = Runs::default();
    let agent = Code::new().agent(&runs);
    let (model, _) = ScriptedModel::new(script());
    let journal = MemoryJournal::new();
    let decides = |request: ApprovalRequest| async move {
        match request.args.as_str().contains("90") {
            true => Approval::approve_with(json!({"cents": 9})).by("Ada"),
            false => Approval::deny("not today").by("Ada"),
        }
    };
    let run = agent.run("bills".to_owned()).model(model).approver(decides);
    let run = run.policy(confirm_tools("pay"));
    run.journal(journal.clone()).await.unwrap();
    let recorded = Recorded::of(journal.entries()).unwrap();
    let run = || agent.run("bills".to_owned());
    run()
        .policy(confirm_tools("pay"))
        .replay(&recorded)
        .await
        .unwrap();
    // The rule is gone.
    let gone = run().replay(&recorded).await.unwrap_err().to_string();
    assert!(
        gone.contains("the run does not start") && gone.ends_with("(fact 1)"),
        "{gone}"
    );
    // A rule of the same name that asks no more.
    let name = recorded.policies()[0].clone();
    let lax = named(name, |_: &agents::policy::Action<'_>| {
        agents::policy::Verdict::Allow
    });
    let lax = run()
        .policy(lax)
        .replay(&recorded)
        .await
        .unwrap_err()
        .to_string();
    assert!(lax.contains("`pay`"), "{lax}");
}

#[tokio::test]
async fn another_agent_input_or_answer_type_is_said_first() {
    let recorded = paid().await;
    let other = AgentBuilder::<String, String>::new("clerk").build();
    let difference = other.run("bills").replay(&recorded).await.unwrap_err();
    assert_eq!(
        difference.to_string(),
        "the recorded run is one of agent `payer`, and this agent is `clerk` (fact 1)"
    );
    let typed = AgentBuilder::<String, u32>::new("payer").build();
    let difference = typed.run("bills").replay(&recorded).await.unwrap_err();
    assert!(
        difference.to_string().contains("does not start"),
        "{difference}"
    );
    let agent = Code::new().agent(&Runs::default());
    let difference = agent
        .run("wages".to_owned())
        .replay(&recorded)
        .await
        .unwrap_err();
    assert_eq!(
        (&*difference.recorded, &*difference.now),
        ("bills", "wages")
    );
}

/// Answers with the words of its model and some of its own.
struct Polite(Plain, &'static str);

#[agents::async_trait]
impl Agent for Polite {
    type In = String;
    type Out = String;
    fn name(&self) -> &str {
        "polite"
    }
    async fn work(&self, cx: &RunContext, input: String) -> Result<String, Error> {
        if self.1 == "silent" {
            return Ok("paid, sir".to_owned());
        }
        let said = self.0.run_in(cx, input).await?;
        Ok(format!("{said}, {}", self.1))
    }
}

#[tokio::test]
async fn an_agent_that_is_code_runs_and_its_answer_is_compared() {
    let polite = |words| Polite(Code::new().agent(&Runs::default()), words);
    let (model, _) = ScriptedModel::new(script());
    let journal = MemoryJournal::new();
    let agent = polite("sir");
    let run = agent.run("bills".to_owned()).model(model);
    run.journal(journal.clone()).await.unwrap();
    let recorded = Recorded::of(journal.entries()).unwrap();
    polite("sir")
        .run("bills".to_owned())
        .replay(&recorded)
        .await
        .unwrap();
    let difference = polite("madam")
        .run("bills".to_owned())
        .replay(&recorded)
        .await
        .unwrap_err();
    let last = recorded.entries().len();
    assert_eq!(
        difference.to_string(),
        format!(
            r#"the answer differs from the recording: recorded `"paid, sir"`, now `"paid, madam"` (fact {last})"#
        )
    );
}

/// Replays a recording with the code that was recorded.
async fn is_replayed(recorded: &Recorded) -> Result<(), Difference> {
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go".to_owned()).max_output_bytes(200);
    run.replay(recorded).await
}

#[tokio::test]
async fn every_prefix_of_a_recording_is_replayed_to_its_end() {
    let (_, whole, _) = recorded(one_of_each()).await;
    let entries = whole.entries();
    for length in 1..=entries.len() {
        let part = Recorded::of(entries[..length].to_vec()).unwrap();
        if let Err(difference) = is_replayed(&part).await {
            let last = &entries[length - 1];
            panic!("after {last}: {difference}");
        }
    }
}

#[tokio::test]
async fn teams_and_their_escalations_are_replayed() {
    for trouble in ["rolls", "smoke", "gas", "mouse", "crumbs"] {
        let (_, recorded) = run(bakery(), baking(&["rolls", trouble, "buns"])).await;
        let team = bakery();
        let again = team.run("bread".to_owned()).replay(&recorded).await;
        again.unwrap_or_else(|difference| panic!("{trouble}: {difference}"));
    }
}

#[tokio::test]
async fn a_run_out_of_tokens_ends_so_again() {
    let runs = Runs::default();
    let agent = Code::new().agent(&runs);
    let (model, _) = ScriptedModel::new(script());
    let journal = MemoryJournal::new();
    let run = agent
        .run("bills".to_owned())
        .model(model)
        .budget(Budget::new().max_turns(2));
    run.journal(journal.clone()).await.unwrap_err();
    let recorded = Recorded::of(journal.entries()).unwrap();
    agent
        .run("bills".to_owned())
        .replay(&recorded)
        .await
        .unwrap();
    let tighter = agent
        .run("bills".to_owned())
        .budget(Budget::new().max_turns(1));
    let difference = tighter.replay(&recorded).await.unwrap_err();
    assert!(
        difference.to_string().contains("another error"),
        "{difference}"
    );
}

#[test]
fn the_text_of_a_recording_has_a_fact_a_line_and_is_refused_if_it_was_altered() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let recorded = runtime.block_on(paid());
    let text = written(recorded.entries()).unwrap();
    assert_eq!(text.lines().count(), recorded.entries().len() + 1);
    let read = journal::recorded(&text, journal::Key::none()).unwrap();
    assert_eq!(written(read.entries()).unwrap(), text);
    let code = Code::new().agent(&Runs::default());
    assert_replays(&text, |input| code.run(input));
    let panics = |text: &str, prompt: &'static str| {
        let agent = Code {
            prompt,
            ..Code::new()
        }
        .agent(&Runs::default());
        let replays = || assert_replays(text, |input| agent.run(input));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(replays)).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    let said = panics(&text, "Pay.");
    assert!(
        said.starts_with("run ")
            && said.contains("agent `payer` goes otherwise now: request 1 ")
            && said.ends_with("(fact 2)"),
        "{said}"
    );
    let altered = panics(&text.replace("bills", "wages"), "Pay the bills.");
    assert!(altered.contains("was altered"), "{altered}");
    assert!(panics("", "Pay the bills.").contains("no run"));
}

async fn is_given_again(turns: Vec<super::generated_runs::Said>) -> Result<(), TestCaseError> {
    let (_, whole, _) = recorded(super::generated_runs::script(&turns)).await;
    let replayed = is_replayed(&whole).await;
    prop_assert!(replayed.is_ok(), "{}", replayed.unwrap_err());
    Ok(())
}

#[test]
fn generated_runs_are_replayed() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(agents_needs::cases(500))
    };
    let turns = prop::collection::vec(super::generated_runs::said(), 0..5);
    let result =
        TestRunner::new(config).run(&turns, |turns| runtime.block_on(is_given_again(turns)));
    result.unwrap();
}

/// Waits, and answers by itself.
#[agents::agent]
async fn sleeper(task: String) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    task
}

#[tokio::test]
async fn who_lost_a_race_is_no_difference() {
    let slow = || {
        let schema = json!({"type": "object"});
        let waits = FnTool::new("waits", "Waits.", Effects::Reads, schema, |_, _| {
            std::future::pending::<io::Result<()>>()
        });
        let agent = AgentBuilder::<String, String>::new("slow").tool(waits);
        agents::compose::first_of((agent.build(), Sleeper))
    };
    let (model, _) = ScriptedModel::new([Script::call("waits", "{}")]);
    let (_, recorded) = crate::world::recorded(slow().run("first").model(model)).await;
    let replayed = slow().run("first".to_owned()).replay(&recorded).await;
    replayed.unwrap_or_else(|difference| panic!("{difference}"));
}

/// Code that ended the recorded run before the work beside it was done, in its versions.
#[derive(Clone, Copy)]
enum Ends {
    WithAnAnswer,
    WithAnError,
}

impl Ends {
    fn agent(self) -> ModelAgent<'static, String, String> {
        let body = move |task: String| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            match self {
                Ends::WithAnAnswer => Ok(task),
                Ends::WithAnError => Err(Error::new(ErrorKind::Failed, "broken")),
            }
        };
        let skill = Skill::native("work", "Works.", body);
        AgentBuilder::new("quick").skill(skill).build()
    }
}

/// Agent whose work is dropped: in a call that does not end, while a person is asked, or while its model is asked.
fn dropped(tool: bool) -> Plain {
    let schema = json!({"type": "object"});
    let waits = FnTool::new("waits", "Waits.", Effects::Reads, schema, |_, _| {
        std::future::pending::<io::Result<()>>()
    });
    let agent = AgentBuilder::<String, String>::new("slow");
    match tool {
        true => agent.tool(waits).build(),
        false => agent.build(),
    }
}

/// Waits for a replay that has nothing to wait for: an hour of the paused clock.
async fn in_an_hour<T>(replay: impl Future<Output = T>) -> T {
    let replayed = tokio::time::timeout(Duration::from_secs(3_600), replay).await;
    replayed.expect("the replay waits for ever")
}

#[tokio::test(start_paused = true)]
async fn a_race_that_nobody_wins_now_ends_with_a_difference() {
    let race = |ends: Ends, tool| agents::compose::first_of((dropped(tool), ends.agent()));
    for (tool, what) in [
        (
            true,
            "the work on the call of `waits` was dropped in the recording, and the run waits for it now (fact ",
        ),
        (
            false,
            "request 1 was dropped in the recording before its answer, and the run waits for it now (fact ",
        ),
    ] {
        let (model, _) = match tool {
            true => ScriptedModel::new([Script::call("waits", "{}")]),
            false => ScriptedModel::from_async_fn(|_| std::future::pending()),
        };
        let recorded_race = race(Ends::WithAnAnswer, tool);
        let run = recorded_race.run("first").model(model);
        let (_, recorded) = crate::world::recorded(run).await;
        let same = recorded_race.run("first".to_owned());
        in_an_hour(same.replay(&recorded)).await.unwrap();
        let other = race(Ends::WithAnError, tool);
        let other = other.run("first".to_owned());
        let difference = in_an_hour(other.replay(&recorded)).await.unwrap_err();
        assert!(difference.to_string().starts_with(what), "{difference}");
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_a_failure_dropped_and_nothing_drops_now_ends_with_a_difference() {
    let both = |ends: Ends| (dropped(true), ends.agent());
    let (model, _) = ScriptedModel::new([Script::call("waits", "{}")]);
    let recorded_pair = both(Ends::WithAnError);
    let run = recorded_pair.run("first").model(model);
    let (_, recorded) = crate::world::recorded(run).await;
    let same = recorded_pair.run("first".to_owned());
    in_an_hour(same.replay(&recorded)).await.unwrap();
    let other = both(Ends::WithAnAnswer);
    let other = other.run("first".to_owned());
    let difference = in_an_hour(other.replay(&recorded)).await.unwrap_err();
    let difference = difference.to_string();
    assert!(
        difference.contains("the run waits for it now"),
        "{difference}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_dropped_and_is_waited_for_now_ends_with_a_difference() {
    let race = |ends: Ends| agents::compose::first_of((dropped(true), ends.agent()));
    let nobody = |_: ApprovalRequest| std::future::pending::<Approval>();
    let (model, _) = ScriptedModel::new([Script::call("waits", "{}")]);
    let recorded_race = race(Ends::WithAnAnswer);
    let run = recorded_race.run("first").model(model).approver(nobody);
    let run = run.policy(confirm_tools("waits"));
    let (_, recorded) = crate::world::recorded(run).await;
    let same = recorded_race.run("first".to_owned());
    let same = same.policy(confirm_tools("waits"));
    in_an_hour(same.replay(&recorded)).await.unwrap();
    let other = race(Ends::WithAnError);
    let other = other.run("first".to_owned());
    let other = other.policy(confirm_tools("waits"));
    let difference = in_an_hour(other.replay(&recorded)).await.unwrap_err();
    let difference = difference.to_string();
    assert!(difference.contains("before it was decided"), "{difference}");
}
