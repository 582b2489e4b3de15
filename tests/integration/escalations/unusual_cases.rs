//! Escalations in unusual situations: several at once, in races, at the end of a budget or of the run, and with
//! handlers that do not help.

use super::own_tools::{Work, asks};
use super::team::{clerk, coder, passes_on};
use crate::world::{Plain, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Budget, Error, ErrorKind,
    agent::Skill,
    compose::{Step, first_of},
    escalation::{
        Escalation, IntoResolution, Resolution, Settlement, inherit, reroute_to, reroute_to_skill,
        retry_with_model, return_partial_result,
    },
    journal::MemoryJournal,
    run::{Limit, Stopped},
    team::Member,
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Creates an agent to which a clerk may reroute its work.
fn deputy(script: impl IntoIterator<Item = Script>) -> Plain {
    scripted_agent("deputy", script).tool(Work).build()
}

/// Creates an agent that repeats its input after this many seconds.
fn after(name: &'static str, seconds: u64) -> Plain {
    let body = move |said: String| async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok::<_, Error>(format!("{said}, {name}"))
    };
    AgentBuilder::new(name)
        .skill(Skill::native("wait", "Waits.", body))
        .build()
}

fn half() -> Plain {
    clerk([asks("high")], |_| return_partial_result("half".to_owned())).build()
}

#[tokio::test(start_paused = true)]
async fn a_partial_result_counts_if_what_is_made_of_it_wins() {
    for (slow, fast, said, partial) in [
        (60, 5, "go, fast, end", false),
        (5, 60, "half, slow, end", true),
    ] {
        let race = first_of((
            half().then(after("slow", slow)).boxed(),
            after("fast", fast).boxed(),
        ));
        let outcome = race
            .then(after("end", 0))
            .run("go")
            .outcome()
            .await
            .unwrap();
        assert_eq!(outcome.result.unwrap(), said);
        assert_eq!(outcome.partial, partial, "{said}");
    }
}

#[tokio::test]
async fn a_partial_round_does_not_count_within_more() {
    let rounds = AtomicU32::new(0);
    let agent = clerk([asks("high"), Script::text("whole")], |_| {
        return_partial_result("half".to_owned())
    })
    .build();
    let until = agent.until(move |said: String| match rounds.fetch_add(1, SeqCst) {
        0 => Step::Again(said),
        _ => Step::Done(said),
    });
    let outcome = until
        .then(after("end", 0))
        .run("go")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "whole, end");
    assert!(!outcome.partial);
}

#[tokio::test]
async fn what_takes_over_may_be_partial_as_well() {
    let lead = clerk([asks("medium")], |_| reroute_to(half())).build();
    let outcome = lead
        .then(after("end", 0))
        .run("go")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "half, end");
    assert!(outcome.partial);
}

/// Creates a boss above two coders that work in parallel.
fn above_two<R: IntoResolution<String, String>>(
    how: &str,
    handler: impl Fn(Escalation) -> R + Send + Sync + 'static,
) -> impl Agent<In = String, Out = String> {
    let one =
        |name: &'static str| -> Plain { scripted_agent(name, [asks(how)]).tool(Work).build() };
    let both = (one("left"), one("right")).map(|(left, right): (String, String)| left + &right);
    let boss = scripted_agent("boss", passes_on("left_right", "code it"))
        .on_escalation(handler)
        .build();
    Member::new(boss).delegate(both).build()
}

#[tokio::test]
async fn two_at_once_to_one_desk_and_the_first_settles_both() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let team = above_two("high", move |escalation| {
        counted.fetch_add(1, SeqCst);
        return_partial_result(escalation.path.join(" "))
    });
    let outcome = team.run("go".to_owned()).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "left boss");
    let [settled, dropped] = &outcome.escalations[..] else {
        panic!("{:?}", outcome.escalations)
    };
    assert_eq!(settled.escalation.path, ["left", "boss"]);
    assert_eq!(dropped.escalation.path, ["right", "boss"]);
    let why = "`boss` returned a partial result after an escalation".to_owned();
    assert_eq!(dropped.settled, Settlement::Dropped { why });
    assert!(outcome.partial && asked.load(SeqCst) == 1);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert!(receipts.len() == 3 && receipts.iter().all(|one| !one.is_ok()));
}

#[tokio::test]
async fn two_at_once_to_one_desk_are_both_helped() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let team = above_two("low", move |escalation| {
        let who = escalation.path[0].clone();
        seen.lock().unwrap().push(who.clone());
        retry_with_model(scripted_model([Script::text(format!("[{who}]"))]))
    });
    let outcome = team.run("go".to_owned()).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "said: [left][right]");
    assert_eq!(*asked.lock().unwrap(), ["left", "right"]);
    assert_eq!(outcome.escalations.len(), 2);
}

#[tokio::test]
async fn a_handler_that_cancels_the_run_has_ended_it() {
    let token = CancellationToken::new();
    let stop = token.clone();
    let (better, asked) = ScriptedModel::always(Script::text("never"));
    let agent = clerk([asks("low")], move |_| {
        stop.cancel();
        retry_with_model(better.clone())
    })
    .build();
    let outcome = agent.run("go").cancel(token).outcome().await.unwrap();
    assert!(matches!(outcome.stopped, Some(Stopped::Cancelled)));
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(
        outcome.outputs.receipts().count(),
        1,
        "the call has its receipt"
    );
    assert!(asked.count() <= 1);
}

#[tokio::test]
async fn work_that_begins_anew_is_within_the_same_budget() {
    let agent = clerk(
        [asks("medium"), asks("fine"), Script::text("never")],
        |_| reroute_to_skill("again"),
    )
    .skill(Skill::model("again", "Again."))
    .budget(Budget::new().max_turns(1))
    .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    let stopped = Stopped::Budget {
        agent: "clerk".into(),
        limit: Limit::Turns(1),
    };
    assert_eq!(outcome.stopped, Some(stopped));
    assert!(matches!(
        outcome.escalations[0].settled,
        Settlement::ReroutedToSkill { .. }
    ));

    // The agent that takes over shares the tokens.
    let agent = clerk([asks("medium")], |_| {
        reroute_to(deputy([asks("fine"), Script::text("never")]))
    })
    .build();
    let whole = agent
        .run("go")
        .budget(agents::run::tokens(3))
        .outcome()
        .await
        .unwrap();
    assert!(
        matches!(
            whole.stopped,
            Some(Stopped::Budget {
                limit: Limit::Tokens(_),
                ..
            })
        ),
        "{:?}",
        whole.stopped
    );
}

#[tokio::test]
async fn whoever_takes_over_and_gives_up_again_is_not_asked_for_ever() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let agent = clerk([asks("medium")], move |_| {
        counted.fetch_add(1, SeqCst);
        reroute_to(deputy([asks("medium"), Script::text("enough")]))
    })
    .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "enough");
    assert_eq!(asked.load(SeqCst), 4);
    let last = &outcome.escalations[3];
    assert_eq!(last.settled, Settlement::ReportedToModel);
    assert_eq!(last.escalation.path, ["deputy", "clerk"]);
    assert_eq!(
        last.escalation.refused[0].to_string(),
        "`clerk` could not begin anew: it has done so 3 times"
    );
}

#[tokio::test]
async fn a_handler_that_panics_is_passed_by() {
    let (coder, _) = coder([asks("high")]);
    let lead = scripted_agent("lead", passes_on("coder", "code it"))
        .on_escalation(|_| -> Resolution<String, String> { panic!("not my day") })
        .build();
    let boss = scripted_agent("boss", passes_on("lead", "plan it"))
        .on_escalation(|escalation| return_partial_result(escalation.refused[0].why.clone()))
        .build();
    let team = Member::new(boss)
        .delegate(Member::new(lead).delegate(coder))
        .build();
    let outcome = team.run("build").outcome().await.unwrap();
    assert_eq!(
        outcome.result.unwrap(),
        "its `on_escalation` panicked: not my day"
    );
}

/// A model with a name of its own.
struct Better(ScriptedModel);

#[agents::async_trait]
impl agents::Model for Better {
    fn id(&self) -> &str {
        "better"
    }

    async fn chat(
        &self,
        request: agents::model::Request<'_>,
    ) -> Result<agents::model::Reply, agents::model::ModelError> {
        self.0.chat(request).await
    }
}

#[tokio::test]
async fn a_stored_run_finds_the_model_that_it_was_given_by_its_name() {
    let better = || Better(scripted_model([asks("second"), Script::text("done")]));
    let times = Arc::new(AtomicU32::new(0));
    let agent = |script: Vec<Script>| {
        let times = times.clone();
        let handler = move |_| {
            times.fetch_add(1, SeqCst);
            retry_with_model(better())
        };
        clerk(script, handler).build()
    };
    let journal = MemoryJournal::new();
    let first = agent(vec![asks("low")]);
    first.run("go").journal(journal.clone()).await.unwrap();
    assert_eq!(times.load(SeqCst), 1);
    let stored = crate::world::put_down_after(&journal, "replied", 2);

    let (second, rest) = (agent(vec![]), scripted_model([Script::text("done")]));
    let run = second.run("go").known_model(Better(rest));
    assert_eq!(run.journal(stored.journal()).await.unwrap(), "done");
    assert_eq!(times.load(SeqCst), 1, "the handler is not asked again");

    // Where nobody knows a model of that name, it is.
    let run = second.run("go").journal(stored.journal());
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(times.load(SeqCst), 2);
}

#[tokio::test]
async fn a_stored_run_whose_handler_is_no_help_any_more_says_so() {
    let journal = MemoryJournal::new();
    let better = || scripted_model([asks("second"), Script::text("done")]);
    let first = clerk([asks("low")], move |_| retry_with_model(better())).build();
    first.run("go").journal(journal.clone()).await.unwrap();
    // The better model has asked for the second call.
    let stored = crate::world::put_down_after(&journal, "replied", 2);
    let panics = |_: Escalation| -> Resolution<String, String> { panic!("oops") };
    let (silent, panicking) = (
        clerk([], |_| inherit::<String, String>()).build(),
        clerk([], panics).build(),
    );
    for agent in [silent, panicking] {
        let (model, asked) = ScriptedModel::always(Script::text("never"));
        let run = agent.run("go").journal(stored.journal()).model(model);
        let error = run.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Replay, "{error}");
        assert!(
            error
                .message()
                .contains("nobody's `on_escalation` gives that model"),
            "{error}"
        );
        assert_eq!(asked.count(), 0);
    }
}
