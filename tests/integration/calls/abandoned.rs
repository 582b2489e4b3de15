//! Abandoned calls: receipts have the time and the reason, with a journal as without one.

use crate::world::{Plain, scripted_agent};
use crate::{
    escalations::{
        own_tools::{Work, asks},
        team::{passes_on, team},
    },
    world::{Wait, agent_with, put_down, spec, tells_the_same},
};
use agents::{
    Agent, AgentBuilder, Effects, Error, Outcome, Severity, async_trait,
    compose::first_of,
    escalation::{Escalation, escalate, reroute_to_skill, return_partial_result},
    journal::{MemoryJournal, Recorded},
    run::{EventKind, RunContext, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Creates an agent with a call that waits for a long time, and another that escalates.
fn coder(how: &str) -> Plain {
    let script = [Script::calls([
        ("wait", r#"{"millis":60000}"#.to_owned()),
        ("work", format!(r#"{{"what":"{how}"}}"#)),
    ])];
    scripted_agent("coder", script)
        .tool(Wait)
        .tool(Work)
        .build()
}

/// Returns the receipt of the abandoned call, and checks that it is the same with and without a journal.
async fn left(run: impl AsyncFn(Option<MemoryJournal>) -> Outcome<String>) -> ToolEnvelope {
    let journal = MemoryJournal::new();
    let plain = run(None).await;
    let taped = run(Some(journal.clone())).await;
    tells_the_same(&Recorded::of(journal.entries()).unwrap(), &taped);
    let waiting = |outcome: &Outcome<String>| {
        let mut receipts = outcome.outputs.receipts();
        let left = receipts.find(|receipt| receipt.name == "wait");
        left.unwrap().clone()
    };
    let (plain, taped) = (waiting(&plain), waiting(&taped));
    assert_eq!(said(&plain), said(&taped));
    taped
}

fn said(receipt: &ToolEnvelope) -> &str {
    &receipt.error.as_ref().unwrap().message
}

async fn finished(
    run: agents::agent::Run<'_, impl Agent<Out = String>>,
    on: Option<MemoryJournal>,
) -> Outcome<String> {
    let run = match on {
        None => run,
        Some(journal) => run.journal(journal),
    };
    run.outcome().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn work_that_an_escalation_ends_says_so() {
    let by_hand = async |on| {
        let team = team(coder("high"), |_| reroute_to_skill("by_hand"));
        finished(team.run("build"), on).await
    };
    let receipt = left(by_hand).await;
    let why =
        "`boss` turned to its skill `by_hand` after an escalation: it was cut off while it ran";
    assert!(said(&receipt).starts_with(why), "{}", said(&receipt));

    let partial = async |on| {
        let team = team(coder("high"), |_| return_partial_result("half".to_owned()));
        finished(team.run("build"), on).await
    };
    let receipt = left(partial).await;
    let why = "`boss` returned a partial result after an escalation";
    assert!(said(&receipt).starts_with(why), "{}", said(&receipt));

    let ends = async |on| {
        let team = team(coder("high"), |escalation: Escalation| {
            escalate(escalation.reason).severity(Severity::Critical)
        });
        finished(team.run("build"), on).await
    };
    let receipt = left(ends).await;
    let why = "the run ended before this call did";
    assert!(said(&receipt).starts_with(why), "{}", said(&receipt));
}

/// Creates a tool whose body runs agents.
fn asking<Fut: Future<Output = Result<String, Error>> + Send + 'static>(
    body: impl Fn() -> Fut + Send + Sync + 'static,
) -> FnTool {
    FnTool::with_spec(spec("ask", Effects::Reads), move |_, _| body())
}

fn boss(tool: FnTool) -> Plain {
    agent_with([tool], [Script::call("ask", "{}"), Script::text("done")]).0
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_leaves_with_a_critical_escalation_says_so() {
    let run = async |on| {
        let ask = asking(|| async {
            let failed = coder("critical").run("code").await.unwrap_err();
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok(failed.to_string())
        });
        finished(boss(ask).run("go"), on).await
    };
    let receipt = left(run).await;
    let why = "`coder` was left: ";
    assert!(said(&receipt).starts_with(why), "{}", said(&receipt));
    assert!(
        said(&receipt).contains("the house burns"),
        "{}",
        said(&receipt)
    );
}

/// Returns the error of the abandoned call, and its duration.
async fn when(run: impl AsyncFn(Option<MemoryJournal>) -> Outcome<String>) -> (String, Duration) {
    let receipt = left(run).await;
    (said(&receipt).to_owned(), receipt.duration())
}

#[tokio::test]
async fn an_agent_that_nobody_waits_for_leaves_its_calls_then_and_not_at_the_end() {
    let waits = || {
        scripted_agent("slow", [Script::call("wait", r#"{"millis":60000}"#)])
            .tool(Wait)
            .build()
    };
    let patience = Duration::from_millis(20);
    let later = || tokio::time::sleep(Duration::from_millis(400));
    let timeout = async |on| {
        let ask = asking(move || async move {
            let given_up = tokio::time::timeout(patience, async { waits().run("go").await }).await;
            later().await;
            Ok(format!("{}", given_up.is_err()))
        });
        finished(boss(ask).run("go"), on).await
    };
    let race = async |on| {
        let ask = asking(move || async move {
            let quick = AgentBuilder::<String, String>::new("quick")
                .skill(agents::agent::Skill::native(
                    "q",
                    "Q.",
                    move |_: String| async move {
                        tokio::time::sleep(patience).await;
                        Ok("quick".to_owned())
                    },
                ))
                .build();
            let first = first_of((waits(), quick)).run("go").await?;
            later().await;
            Ok(first)
        });
        finished(boss(ask).run("go"), on).await
    };
    let failure = async |on| {
        let ask = asking(move || async move {
            let fails = AgentBuilder::<String, String>::new("fails")
                .skill(agents::agent::Skill::native(
                    "f",
                    "F.",
                    move |_: String| async move {
                        tokio::time::sleep(patience).await;
                        Err(Error::new(agents::ErrorKind::Failed, "no"))
                    },
                ))
                .build();
            let failed = (waits(), fails).run("go").await.is_err();
            later().await;
            Ok(failed.to_string())
        });
        finished(boss(ask).run("go"), on).await
    };
    for (what, (why, took)) in [
        ("a timeout", when(timeout).await),
        ("a race", when(race).await),
        ("a failure beside it", when(failure).await),
    ] {
        let dropped = "the agent was dropped before this call ended: it was cut off while it ran";
        assert!(why.starts_with(dropped), "{what}: {why}");
        assert!(took < Duration::from_millis(300), "{what}: {took:?}");
    }
}

/// An agent that asks one agent, and then leaves the work to another.
struct Audited(Plain, Plain);

#[async_trait]
impl Agent for Audited {
    type In = String;
    type Out = String;

    fn name(&self) -> &str {
        "audited"
    }

    async fn work(&self, cx: &RunContext, input: String) -> Result<String, Error> {
        self.1.run_in(cx, input.clone()).await?;
        self.0.work(cx, input).await
    }
}

#[tokio::test]
async fn what_ran_within_a_call_stands_behind_it() {
    let helper = || {
        let call = Script::call("wait", r#"{"millis":1}"#);
        agent_with([], [call, Script::text("helped")]).0
    };
    let ask = asking(move || async move { helper().run("go").await });
    let twice = [
        Script::call("ask", r#"{"nth":1}"#),
        Script::call("ask", r#"{"nth":2}"#),
        Script::text("done"),
    ];
    let (worker, _) = agent_with([ask], twice);
    let script = [Script::call("gone", "{}"), Script::text("fine")];
    let auditor = scripted_agent("auditor", script).build();
    let outcome = Audited(worker, auditor).run("go").outcome().await.unwrap();
    let names: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.name.as_str())
        .collect();
    assert_eq!(names, ["ask", "wait", "ask", "wait", "gone"]);
}

#[tokio::test]
async fn a_partial_result_of_a_delegate_is_on_its_receipt() {
    let half = scripted_agent("half", [asks("high")])
        .tool(Work)
        .on_escalation(|_| return_partial_result("half".to_owned()))
        .build();
    let boss = scripted_agent("boss", passes_on("half", "code it")).build();
    let team = agents::team::Member::new(boss).delegate(half).build();
    let ended = Arc::<Mutex<Vec<_>>>::default();
    let noted = ended.clone();
    let outcome = team
        .run("build")
        .on_event(move |event| {
            if let EventKind::CallEnded(receipt) = &event.kind {
                noted
                    .lock()
                    .unwrap()
                    .push((receipt.name.clone(), receipt.is_partial()));
            }
        })
        .outcome()
        .await
        .unwrap();
    assert!(
        !outcome.partial,
        "the boss was told, and made of it what it would"
    );
    let ended = ended.lock().unwrap().clone();
    assert_eq!(
        ended,
        [("work".to_owned(), false), ("half".to_owned(), true)]
    );
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_partial() && receipt.is_ok());
    assert!(agents::console::receipt(receipt, false).contains("(partial, "));
    let drawn = agents::timeline::of(&outcome).width(200).to_string();
    assert!(drawn.contains("(partial)"), "{drawn}");
}

#[tokio::test]
async fn a_stored_agent_that_was_dropped_is_told_of_what_it_left() {
    let journal = MemoryJournal::new();
    let waits = Script::call("wait", r#"{"millis":60000}"#);
    let told = (0..20).map(|_| Script::text("told"));
    let (slow, asked) = ScriptedModel::new([waits].into_iter().chain(told));
    let ask = move || {
        let slow = slow.clone();
        asking(move || {
            let slow = slow.clone();
            async move {
                let slow = AgentBuilder::<String, String>::new("slow")
                    .tool(Wait)
                    .model(slow)
                    .build();
                let patience = Duration::from_millis(100);
                let given_up = tokio::time::timeout(patience, async { slow.run("go").await }).await;
                // Stored here, with the other call of the reply.
                tokio::time::sleep(Duration::from_millis(200)).await;
                given_up.unwrap_or_else(|_| Ok("given up".to_owned()))
            }
        })
    };
    let both = Script::calls([
        ("ask", "{}".to_owned()),
        ("wait", r#"{"millis":200}"#.to_owned()),
    ]);
    let (model, _) = ScriptedModel::new([both, Script::text("done")]);
    let first: Plain = AgentBuilder::new("worker")
        .tool(ask())
        .tool(Wait)
        .model(model)
        .build();
    first.run("go").journal(journal.clone()).await.unwrap();
    let mut between = put_down(&journal);
    between.retain(|at| {
        at.text().contains("before this call ended") && !at.text().contains("given up")
    });
    assert!(between.len() > 2, "{}", between.len());
    for at in between {
        let again = scripted_agent("worker", [Script::text("done")])
            .tool(ask())
            .tool(Wait)
            .build();
        let before = asked.count();
        again.run("go").journal(at.journal()).await.unwrap();
        assert_eq!(asked.count(), before + 1, "{at}");
        let last = asked.requests().pop().unwrap();
        let results = last.results();
        assert_eq!(results.len(), 1, "every call has its answer: {results:?}");
        assert!(
            results[0].1.contains("before this call ended"),
            "{at}: {results:?}"
        );
    }
}
