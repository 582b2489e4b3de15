//! Budgets of places in a team, and their effect on the run.

use super::*;
use crate::world::{scripted_agent, scripted_model};
use agents::run::Limit;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Compiles for ever.
fn busy(name: &'static str) -> Plain {
    let (model, _) = ScriptedModel::always(Script::call("compile", "{}"));
    tooled(name)
        .model(model)
        .budget(Budget::new().max_recursion(100).max_identical_calls(100))
        .build()
}

/// Creates an agent that works for this number of seconds.
fn slow(name: &'static str, seconds: u64) -> Plain {
    AgentBuilder::new(name)
        .skill(Skill::native("wait", "Waits.", move |_| async move {
            sleep(Duration::from_secs(seconds)).await;
            Ok("at last".into())
        }))
        .build()
}

fn ask(name: &str) -> [Script; 2] {
    [Script::call(name, r#"{"input":"x"}"#), Script::text("well")]
}

async fn stopped(team: Team<Plain>) -> Option<Stopped> {
    team.run("go").outcome().await.unwrap().stopped
}

fn by(agent: &str, limit: Limit) -> Option<Stopped> {
    Some(Stopped::Budget {
        agent: agent.into(),
        limit,
    })
}

#[tokio::test]
async fn the_tighter_bound_counts() {
    let team = structure!(busy("busy").budget(Budget::new().max_turns(3)));
    assert_eq!(stopped(team).await, by("busy", Limit::Turns(3)));
    // A place may allow more turns than the default, if the agent sets no bound.
    let team = structure!(busy("busy").budget(Budget::new().max_turns(12)));
    assert_eq!(stopped(team).await, by("busy", Limit::Turns(12)));
    let team = structure!(busy("busy").budget(Budget::new().max_recursion(5)));
    assert_eq!(stopped(team).await, by("busy", Limit::Recursion(5)));
}

#[tokio::test]
async fn tokens_are_shared_by_all_below() {
    let team = structure!(
        lead(ask("busy"))
            .0
            .budget(tokens(60))
            .delegates(busy("busy").grants([Compile]))
    );
    assert_eq!(stopped(team).await, by("lead", Limit::Tokens(60)));
    let team = structure!(
        lead(ask("busy"))
            .0
            .delegates(busy("busy").budget(tokens(30)).grants([Compile]))
    );
    assert_eq!(stopped(team).await, by("busy", Limit::Tokens(30)));
    // Also where the agent itself is not driven by a model.
    let boss: Plain = AgentBuilder::new("boss")
        .skill(Skill::native("ask", "Asks.", |task: String| async move {
            delegate::<Plain>()?.run(task).await
        }))
        .build();
    let team = structure!(
        boss.budget(tokens(45))
            .delegates(busy("busy").grants([Compile]))
    );
    assert_eq!(stopped(team).await, by("boss", Limit::Tokens(45)));
}

#[tokio::test]
async fn a_bound_on_depth_counts_from_the_place() {
    let team = |depth| {
        let master = scripted_agent("master", ask("coder")).build();
        let (coder, _) = driven("coder", [Script::text("x")]);
        structure!(
            lead(ask("master"))
                .0
                .budget(Budget::new().depth(depth))
                .delegates(master.delegates(coder))
        )
    };
    assert_eq!(stopped(team(1)).await, by("lead", Limit::Depth(1)));
    assert_eq!(stopped(team(2)).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_delegate_whose_time_is_over_has_failed_and_the_run_goes_on() {
    let (boss, led) = lead(ask("slow"));
    let team = structure!(boss.delegates(slow("slow", 100).budget(Budget::new().time(minutes(1)))));
    assert_eq!(team.run("go").await.unwrap(), "well");
    assert!(
        told(&led).contains("did not finish within 60s"),
        "{}",
        told(&led)
    );
    // Without a bound, a delegate may take longer than any other tool.
    let (boss, led) = lead(ask("slow"));
    let team = structure!(boss.delegates(slow("slow", 3600)));
    team.run("go").await.unwrap();
    assert_eq!(told(&led), "at last");
    // The agent's own bound also applies to the call.
    let (boss, led) = lead(ask("waiting"));
    let schema = json!({ "type": "object", "properties": {} });
    let wait = FnTool::new(
        "wait",
        "Waits.",
        agents::Effects::None,
        schema,
        |_, _| async {
            sleep(Duration::from_secs(90)).await;
            Ok::<_, Error>("at last")
        },
    );
    let waiting = scripted_agent("waiting", [Script::call("wait", "{}"), Script::text("x")])
        .tool(wait)
        .budget(Budget::new().time(minutes(1)))
        .build();
    let team = structure!(boss.delegates(waiting));
    assert_eq!(team.run("go").await.unwrap(), "well");
    assert!(
        told(&led).contains("did not finish within 60s"),
        "{}",
        told(&led)
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_root_ends_the_run() {
    let team = structure!(slow("slow", 100).budget(Budget::new().time(minutes(1))));
    assert_eq!(stopped(team).await, by("slow", Limit::Time(minutes(1))));
    let (boss, _) = lead(ask("slow"));
    let team = structure!(
        boss.budget(Budget::new().time(minutes(1)))
            .delegates(slow("slow", 100))
    );
    assert_eq!(stopped(team).await, by("lead", Limit::Time(minutes(1))));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_is_not_a_delegates_time() {
    let (coder, coded) = driven(
        "coder",
        [Script::call("deploy", "{}"), Script::text("deployed")],
    );
    let (boss, led) = lead(ask("coder"));
    let team = structure!(
        boss.delegates(
            coder
                .confirm([Deploy])
                .budget(Budget::new().time(minutes(1)))
        )
    );
    let later = |_: ApprovalRequest| async {
        sleep(Duration::from_secs(600)).await;
        Approval::Approve
    };
    team.run("go").approver(later).await.unwrap();
    assert_eq!(
        (told(&coded), told(&led)),
        ("live".into(), "deployed".into())
    );
}

/// Counts when it is dropped.
struct Freed(Arc<AtomicU32>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_root_frees_all_below_at_once() {
    let freed = Arc::new(AtomicU32::new(0));
    let endless = |name: &'static str| -> Plain {
        let freed = freed.clone();
        AgentBuilder::new(name)
            .skill(Skill::native("wait", "Waits.", move |_| {
                let freed = Freed(freed.clone());
                async move {
                    let _freed = freed;
                    std::future::pending().await
                }
            }))
            .build()
    };
    let both = || Script::calls([("one", r#"{"input":"x"}"#), ("two", r#"{"input":"x"}"#)]);
    let master = scripted_agent("master", [both()]).build();
    let team = structure!(
        lead(ask("master"))
            .0
            .delegates(master.delegates(endless("one"), endless("two")))
    );
    let token = CancellationToken::new();
    let trigger = token.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        trigger.cancel();
    });
    let outcome = team.run("go").cancel(token).outcome().await.unwrap();
    assert_eq!(
        (outcome.stopped, freed.load(SeqCst)),
        (Some(Stopped::Cancelled), 2)
    );
    assert_eq!(
        outcome.outputs.receipts().count(),
        3,
        "every call leaves a receipt"
    );
}

#[tokio::test]
async fn a_delegate_is_retried_only_if_nothing_below_writes() {
    use agents::recovery::{CallError, Execution, retry};
    let runs = async |effects: agents::Effects| {
        let counted = Arc::new(AtomicU32::new(0));
        let count = counted.clone();
        let schema = json!({ "type": "object", "properties": {} });
        let work = FnTool::new("work", "Works.", effects, schema, |_, _| async {
            Ok::<_, Error>("ok")
        });
        let script = (0..9).map(|_| {
            let count = count.clone();
            Script::With(Box::new(move |_: &ReceivedRequest| {
                count.fetch_add(1, SeqCst);
                agents::model::Reply {
                    content: "no number".into(),
                    ..Default::default()
                }
            }))
        });
        let worker = AgentBuilder::<String, u32>::new("worker")
            .tool(work)
            .model(scripted_model(script))
            .budget(Budget::new().max_turns(1))
            .build();
        let boss = scripted_agent("boss", ask("worker"))
            .on_error(|error, _| match error {
                CallError::Execution(_) => Some(retry::<Execution>().max_attempts(3).into()),
                _ => None,
            })
            .build();
        structure!(boss.delegates(worker)).run("go").await.unwrap();
        counted.load(SeqCst)
    };
    assert_eq!(runs(agents::Effects::Reads).await, 3);
    assert_eq!(runs(agents::Effects::Writes).await, 1);
}
