//! Resumed runs keep the settings of the stored run, and its trace.

use crate::world::Plain;
use crate::{
    observation::traces::{traced, tree},
    world::{PutDown, counted, put_down_after, spec},
};
use agents::{
    Agent, AgentBuilder, Budget, Effects, ErrorKind,
    agent::Run,
    journal::MemoryJournal,
    policy::{Action, Policy, Verdict, named, read_only},
    rate::{MemoryLimiter, Rate},
    run::{Limit, Stopped},
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

/// Creates an agent with a tool that writes and a tool that returns the scope; also returns the count of writes.
fn worker(script: Vec<Script>) -> (Plain, Arc<AtomicU32>) {
    let (write, writes) = counted(spec("write", Effects::Writes));
    let whose = FnTool::with_spec(spec("whose", Effects::Reads), |_, cx| {
        let scope = cx.scope().clone();
        async move { Ok::<_, io::Error>(scope.user_id.unwrap_or_default()) }
    });
    let (model, _) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("worker").tool(write).tool(whose);
    (agent.model(model).build(), writes)
}

/// Returns a run that was interrupted after its model's first call.
async fn stored(terms: impl FnOnce(Run<'_, Plain>) -> Run<'_, Plain>) -> PutDown {
    let journal = MemoryJournal::new();
    let (agent, _) = worker(vec![Script::call("whose", "{}"), Script::text("done")]);
    let run = terms(agent.run("go")).journal(journal.clone());
    run.await.unwrap();
    put_down_after(&journal, "replied", 1)
}

/// Resumes the stored run.
fn resumed<'a>(agent: &'a Plain, stored: &PutDown) -> Run<'a, Plain> {
    agent.run("go").journal(stored.journal())
}

/// Returns the rest of the script: a call of `write`, and an answer.
fn rest() -> Vec<Script> {
    vec![Script::call("write", "{}"), Script::text("done")]
}

/// Returns the reason why a run cannot be resumed.
async fn refusal(run: Run<'_, Plain>) -> String {
    let error = run.outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    error.to_string()
}

#[tokio::test]
async fn rules_have_to_be_said_again() {
    let stored = stored(|run| run.policy(read_only())).await;
    let (agent, writes) = worker(rest());
    let why = refusal(resumed(&agent, &stored)).await;
    assert!(
        why.starts_with("the stored run had the policy `")
            && why.contains("read_only")
            && why.ends_with("`, and this one has not; give it again with `.policy(..)`"),
        "{why}"
    );
    let run = resumed(&agent, &stored).policy(read_only());
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(writes.load(SeqCst), 0);
}

#[tokio::test]
async fn limits_have_to_be_said_again() {
    let limiter = || MemoryLimiter::new().limit("write", Rate::per_minute(0));
    let stored = stored(|run| run.rate_limits(limiter())).await;
    let (agent, writes) = worker(rest());
    assert_eq!(
        refusal(resumed(&agent, &stored)).await,
        "the stored run had rate limits, and this one has none; give them again with `.rate_limits(..)`"
    );
    let run = resumed(&agent, &stored).rate_limits(limiter());
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(writes.load(SeqCst), 0);
}

#[tokio::test]
async fn it_works_for_whom_it_worked() {
    let ada = || Scope::from("acme").user("ada");
    let stored = stored(|run| run.scope(ada())).await;
    let (agent, _) = worker(rest());
    for run in [
        resumed(&agent, &stored),
        resumed(&agent, &stored).scope(ada()),
    ] {
        let outcome = run.outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""ada""#);
    }
    for other in [Scope::from("other"), Scope::from("acme").user("bob")] {
        assert_eq!(
            refusal(resumed(&agent, &stored).scope(other)).await,
            "the stored run has another scope; leave out `.scope(..)` to continue with the stored one"
        );
    }
}

#[tokio::test]
async fn of_two_budgets_the_tighter_holds() {
    let stored = stored(|run| run.budget(Budget::new().tokens(20).max_turns(5))).await;
    for (said, bound) in [
        (None, Limit::Tokens(20)),
        (Some(Budget::new().tokens(100)), Limit::Tokens(20)),
        (Some(Budget::new().max_turns(9)), Limit::Tokens(20)),
        (Some(Budget::new().tokens(16)), Limit::Tokens(16)),
        (Some(Budget::new().max_turns(1)), Limit::Turns(1)),
    ] {
        let (agent, _) = worker(rest());
        let run = resumed(&agent, &stored);
        let run = match said.clone() {
            Some(said) => run.budget(said),
            None => run,
        };
        let outcome = run.outcome().await.unwrap();
        let Some(Stopped::Budget { limit, .. }) = outcome.stopped else {
            panic!("{said:?} does not end it: {:?}", outcome.result);
        };
        assert_eq!(limit, bound, "{said:?}");
    }
}

type Rule = Box<dyn Fn(&Action<'_>) -> Verdict + Send + Sync>;

/// Returns two rules of one function: their types have one name.
fn rules() -> [Rule; 2] {
    [
        Box::new(|action: &Action<'_>| match action {
            Action::Tool(_) => Verdict::deny("nothing runs"),
            Action::Model(_) => Verdict::Allow,
        }),
        Box::new(|_: &Action<'_>| Verdict::Allow),
    ]
}

#[tokio::test]
async fn a_rule_without_a_name_of_its_own_is_refused() {
    let [deny, allow] = rules();
    let journal = MemoryJournal::new();
    let (agent, writes) = worker(rest());
    let run = agent.run("go").policy(deny).journal(journal.clone());
    assert_eq!(
        refusal(run).await,
        "a stored run is held to its policies by their names, and one has none; give it one: `.policy(agents::policy::named(\"..\", ..))`"
    );
    assert!(journal.entries().is_empty());
    // Nor does one that is stored go on with such a rule.
    let stored = stored(|run| run).await;
    let why = refusal(resumed(&agent, &stored).policy(allow)).await;
    assert!(why.contains("by their names"), "{why}");
    assert_eq!(writes.load(SeqCst), 0);
    // Without a journal no rule needs a name.
    let [deny, _] = rules();
    assert_eq!(agent.run("go").policy(deny).await.unwrap(), "done");
    assert_eq!(writes.load(SeqCst), 0);
}

#[tokio::test]
async fn two_rules_with_names_are_told_apart() {
    let [deny, allow] = rules();
    let stored = stored(|run| run.policy(named("deny", deny))).await;
    let (agent, writes) = worker(rest());
    let why = refusal(resumed(&agent, &stored).policy(named("allow", allow))).await;
    assert!(
        why.starts_with("the stored run had the policy `deny`"),
        "{why}"
    );
    assert_eq!(writes.load(SeqCst), 0);
}

/// A rule that says its own name.
struct Nothing;

impl Policy for Nothing {
    fn judge(&self, _: &Action<'_>) -> Verdict {
        Verdict::deny("nothing runs")
    }

    fn name(&self) -> Option<&str> {
        Some("nothing")
    }
}

#[tokio::test]
async fn a_rule_may_say_its_name_itself() {
    let stored = {
        let journal = MemoryJournal::new();
        let (agent, _) = worker(vec![]);
        let run = agent.run("go").policy(Nothing).journal(journal.clone());
        run.await.unwrap_err();
        put_down_after(&journal, "started", 1)
    };
    let (agent, _) = worker(rest());
    let why = refusal(resumed(&agent, &stored)).await;
    assert!(why.contains("had the policy `nothing`"), "{why}");
}

#[tokio::test]
async fn another_type_of_answer_is_refused() {
    #[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Report {
        done: bool,
    }

    fn of<O: agents::agent::Data + schemars::JsonSchema>() -> Plain<String, O> {
        let (model, _) = ScriptedModel::new([Script::text(r#"{"done": true}"#)]);
        AgentBuilder::<String, O>::new("worker")
            .model(model)
            .build()
    }

    let journal = MemoryJournal::new();
    of::<Report>()
        .run("go")
        .journal(journal.clone())
        .await
        .unwrap();
    let expected = "the answer's type has changed since the run was stored: agent `worker` answered by another schema then; finish the run with the type that it had, or start it anew with another journal";
    for stored in [
        put_down_after(&journal, "said", 1),
        PutDown(journal.entries()),
    ] {
        let error = of::<bool>()
            .run("go")
            .journal(stored.journal())
            .outcome()
            .await;
        assert_eq!(error.unwrap_err().to_string(), expected, "{stored}");
        let error = of::<String>()
            .run("go")
            .journal(stored.journal())
            .outcome()
            .await;
        assert_eq!(error.unwrap_err().to_string(), expected, "{stored}");
        let report = of::<Report>().run("go").journal(stored.journal()).await;
        assert!(report.unwrap().done);
    }

    // A journal that does not say is not bound.
    let mut entries = journal.entries();
    let first = serde_json::to_string(&entries[0]).unwrap();
    let (before, after) = first
        .split_once(r#""answer":""#)
        .expect("the type is bound");
    let (_, after) = after.split_once(r#"","#).unwrap();
    entries[0] = serde_json::from_str(&format!("{before}{after}")).unwrap();
    let run = of::<String>();
    let run = run.run("go").journal(MemoryJournal::of(entries));
    let why = run.await.unwrap_err().to_string();
    assert!(!why.contains("type has changed"), "{why}");
}

#[tokio::test]
async fn where_cost_was_bounded_prices_have_to_be_said_again() {
    let terms = Budget::new().cost(1.0);
    let stored = {
        let journal = MemoryJournal::new();
        let (agent, _) = worker(rest());
        let run = agent.run("go").price("*", 2.0, 4.0).budget(terms);
        run.journal(journal.clone()).await.unwrap();
        put_down_after(&journal, "replied", 1)
    };
    let (agent, _) = worker(vec![Script::text("done")]);
    let outcome = resumed(&agent, &stored).outcome().await.unwrap();
    let error = outcome.result.unwrap_err().to_string();
    assert!(error.contains("has no price"), "{error}");
    let run = resumed(&agent, &stored).price("*", 2.0, 4.0);
    assert_eq!(run.await.unwrap(), "done");
}

#[tokio::test]
async fn a_resumed_run_goes_on_in_its_trace() {
    let (outcome, spans) = traced(async {
        let stored = stored(|run| run).await;
        let (agent, _) = worker(rest());
        resumed(&agent, &stored).outcome().await.unwrap()
    })
    .await;
    let drawn = tree(&spans);
    let first = spans[0].span_context.trace_id().to_string();
    assert_eq!(outcome.trace.id, first);
    let runs = drawn
        .lines()
        .filter(|line| line.contains("invoke_workflow worker"));
    let depths: Vec<_> = runs
        .map(|line| line.len() - line.trim_start().len())
        .collect();
    assert_eq!(depths, [0, 2], "one below the other:\n{drawn}");
}
