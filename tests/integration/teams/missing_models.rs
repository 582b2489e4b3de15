//! Agents without the model that they need: they are named before a run.

use super::*;
use crate::world::native;
use agents::ErrorKind;
use agents::compose::{first_of, forum, settled};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const WAYS_OUT: &str = "name one with `#[agent(model = ..)]` or `AgentBuilder::model`, or give one to the whole run with `.run(..).model(..)`";

/// Creates an agent with two skills, among which a model has to choose.
fn torn(name: &'static str) -> Plain {
    torn_builder(name).build()
}

fn torn_builder(name: &'static str) -> AgentBuilder<'static, String, String> {
    let skill = |name: &'static str| {
        Skill::native(name, "Does.", move |task: String| async move {
            Ok(format!("{task}, by {name}"))
        })
    };
    AgentBuilder::new(name)
        .skill(skill("left"))
        .skill(skill("right"))
}

/// Creates an agent with a body that counts its runs.
fn body(name: &'static str, runs: &Arc<AtomicU32>) -> Plain {
    let runs = runs.clone();
    native(name, move |task: String| {
        runs.fetch_add(1, SeqCst);
        async move { Ok(task) }
    })
}

fn undecided(name: &str) -> String {
    format!(
        "agent `{name}` has no model to choose among its skills `left`, `right`; give all of them but one a `when = |input| ..`, or {WAYS_OUT}"
    )
}

fn undriven(name: &str) -> String {
    format!("agent `{name}` has no model; {WAYS_OUT}")
}

/// Returns the error of a run without a model, and checks that no part of it has begun.
async fn refused<A: Agent<In = String>>(agent: A, runs: &AtomicU32) -> String {
    let error = agent.run("go".to_owned()).outcome().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(runs.load(SeqCst), 0, "nothing has run");
    error.message().to_owned()
}

#[tokio::test]
async fn an_agent_by_itself() {
    let runs = Arc::default();
    assert_eq!(refused(torn("a"), &runs).await, undecided("a"));
    // A condition that holds for this input need not hold for the next.
    let some = torn_builder("a")
        .skill(Skill::native("short", "Short.", |_| async { Ok(String::new()) }).when(|_| true))
        .build();
    assert_eq!(refused(some, &runs).await, undecided("a"));
    let driven: Plain = AgentBuilder::new("b").build();
    assert_eq!(refused(driven, &runs).await, undriven("b"));
}

#[tokio::test]
async fn an_agent_that_can_do_without_is_not_meant() {
    let clerk: Plain = AgentBuilder::new("clerk")
        .skill(
            Skill::native("greet", "Greets.", |name: String| async move { Ok(name) })
                .when(|name| name.len() < 9),
        )
        .skill(Skill::model("look_up", "Looks up."))
        .build();
    assert_eq!(clerk.run("Ada").await.unwrap(), "Ada");
    let error = clerk.run("somebody else").await.unwrap_err();
    assert_eq!(error.message(), undriven("clerk"));
}

#[tokio::test]
async fn a_delegate_below_code_however_deep() {
    let runs = Arc::default();
    let team = structure!(body("root", &runs).delegates(
        torn("coder"),
        body("lead", &runs).delegates(idle("tester"), torn("writer")),
    ));
    team.check().expect("a run may bring a model");
    assert_eq!(
        refused(team, &runs).await,
        format!(
            "the team of `root` cannot work as it is put together:\n  root / coder: {}\n  root / lead / tester: {}\n  root / lead / writer: {}",
            undecided("coder"),
            undriven("tester"),
            undecided("writer"),
        )
    );
}

#[tokio::test]
async fn what_a_model_above_drives_needs_none() {
    let (model, handle) = ScriptedModel::new([
        Script::call("coder", r#"{"input":"code it"}"#),
        Script::text("right"),
        Script::text("done"),
    ]);
    let root: Plain = AgentBuilder::new("root").model(model).build();
    let team = structure!(root.delegates(torn("coder")));
    assert_eq!(team.run("go").await.unwrap(), "done");
    assert!(handle.requests()[2].last().contains("code it, by right"));

    let (model, _) = ScriptedModel::new([Script::text("left")]);
    assert_eq!(
        torn("a").run("go").model(model).await.unwrap(),
        "go, by left"
    );
}

#[tokio::test]
async fn parts_of_whatever_is_put_together() {
    let runs = Arc::default();
    let first = || body("first", &runs);
    let said = undecided("torn");
    assert_eq!(refused((first(), torn("torn")), &runs).await, said);
    assert_eq!(refused(vec![torn("torn")], &runs).await, said);
    assert_eq!(refused(first().then(torn("torn")), &runs).await, said);
    assert_eq!(refused(settled((first(), torn("torn"))), &runs).await, said);
    assert_eq!(
        refused(first_of((first(), torn("torn"))), &runs).await,
        said
    );
    let again = first()
        .then(torn("torn"))
        .until(|said: String| agents::compose::Step::<String, String>::Done(said));
    assert_eq!(refused(again, &runs).await, said);
    let discussion = forum((first(), torn("torn"))).captain(
        AgentBuilder::<agents::compose::Transcript<String>, String>::new("captain").build(),
    );
    assert_eq!(
        refused(discussion, &runs).await,
        format!("{said}; {}", undriven("captain"))
    );
    let (calm, torn) = (body("calm", &runs), torn("torn"));
    let routed = branch!(
        first(),
        match said {
            text if text.is_empty() => calm.run(text),
            text => torn.run(text),
        }
    );
    assert_eq!(refused(routed, &runs).await, said);
}

#[tokio::test]
async fn a_team_among_the_parts_and_all_else_that_is_wrong_with_it() {
    let runs = Arc::default();
    let team = structure!(body("lead", &runs).delegates(
        torn("coder").grants([Compile]),
        idle("tester").confirm([Compile])
    ));
    let said = refused(body("first", &runs).then(torn("torn")).then(team), &runs).await;
    let expected = format!(
        "{}; the team of `lead` cannot work as it is put together:\n  lead / coder: there is no tool `compile` here or below, nor any other; add it to the agent's `tools`\n  lead / coder: {}\n  lead / tester: {}",
        undecided("torn"),
        undecided("coder"),
        undriven("tester"),
    );
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_stored_run_whose_rest_needs_none_goes_on_without() {
    let journal = MemoryJournal::new();
    let runs = Arc::default();
    let (model, _) = ScriptedModel::new([Script::text("left")]);
    let both = torn("torn").then(body("then", &runs));
    let whole = both.run("go").model(model);
    whole.journal(journal.clone()).await.unwrap();
    for at in crate::world::put_down(&journal) {
        let rest = both.run("go").journal(at.journal()).await;
        match at.replies() {
            0 => assert_eq!(
                rest.unwrap_err().kind(),
                ErrorKind::Build,
                "{at}: the choice needs one"
            ),
            _ => assert_eq!(rest.unwrap(), "go, by left", "{at}"),
        }
    }
}
