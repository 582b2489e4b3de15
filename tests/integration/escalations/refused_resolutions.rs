//! Resolutions that cannot be carried out: the escalation climbs on, and the reason is recorded.

use super::own_tools::{Work, asks};
use super::team::{clerk, coder, passes_on};
use crate::world::{Plain, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Outcome,
    agent::Skill,
    console,
    escalation::{
        Escalation, IntoResolution, RefusedResolution, Resolution, Settlement, reroute_to,
        reroute_to_skill, retry_with_model,
    },
    run::EventKind,
    team::Member,
    testing::Script,
    tool,
};
use std::sync::{Arc, Mutex};

/// Creates a clerk that escalates with this severity, has this handler, and then answers `told`.
fn told_clerk<R: IntoResolution<String, String>>(
    how: &str,
    handler: impl Fn(Escalation) -> R + Send + Sync + 'static,
) -> AgentBuilder<'static, String, String> {
    clerk([asks(how), Script::text("told")], handler)
}

/// Returns the console's lines about refused resolutions, and the outcome of the run.
async fn watched(agent: impl Agent<In = String, Out = String>) -> (Vec<String>, Outcome<String>) {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = lines.clone();
    let watch = move |event: &agents::run::Event| {
        if matches!(event.kind, EventKind::ResolutionRefused(_)) {
            sink.lock().unwrap().extend(console::line(event, false));
        }
    };
    let outcome = agent.run("go".to_owned()).on_event(watch).outcome().await;
    let lines = lines.lock().unwrap().clone();
    (lines, outcome.unwrap())
}

const NO_SUCH_SKILL: &str = "`clerk` could not turn to its skill `by_hnad`: it has none of that name; \
    it has `file`, `by_hand`; did you mean `by_hand`?";

#[tokio::test]
async fn a_skill_that_is_not_there_is_named_with_those_that_are() {
    let agent = told_clerk("low", |_| reroute_to_skill("by_hnad"))
        .skill(Skill::model("file", "Files.").when(|_: &String| true))
        .skill(Skill::model("by_hand", "By hand."))
        .build();
    let (lines, outcome) = watched(agent).await;
    assert_eq!(outcome.result.unwrap(), "told");
    assert_eq!(
        lines,
        [format!(
            "! {NO_SUCH_SKILL}; it goes to the next agent above"
        )]
    );
    let [receipt] = &outcome.escalations[..] else {
        panic!("{:?}", outcome.escalations)
    };
    assert_eq!(receipt.settled, Settlement::ReportedToModel);
    let [refused] = &receipt.escalation.refused[..] else {
        panic!("{:?}", receipt.escalation)
    };
    assert_eq!(refused.to_string(), NO_SUCH_SKILL);
    let said = receipt.escalation.to_string();
    assert!(said.ends_with(NO_SUCH_SKILL), "{said}");
}

#[tokio::test]
async fn the_error_says_it_as_well() {
    let agent = || {
        told_clerk("critical", |_| reroute_to_skill("tpyo"))
            .skill(Skill::model("file", "Files."))
            .build()
    };
    let expected =
        "`clerk` could not turn to its skill `tpyo`: it has none of that name; it has `file`";
    let outcome = agent().run("go").outcome().await.unwrap();
    assert_eq!(outcome.escalations[0].settled, Settlement::Ended);
    let error = outcome.result.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`work` gave up (CRITICAL): the house burns; {expected}")
    );
    assert_eq!(error.message(), "the house burns");
    assert_eq!(error.escalation().unwrap().path, ["clerk"]);

    // A parent that is plain code gets the same.
    let inner = Arc::new(agent());
    let outer: Plain = AgentBuilder::new("outer")
        .skill(Skill::native("ask", "Asks.", move |input: String| {
            let inner = inner.clone();
            async move { Ok(inner.run(input).await.unwrap_err().to_string()) }
        }))
        .build();
    let said = outer.run("go").await.unwrap();
    assert!(said.ends_with(expected), "{said}");
}

#[tokio::test]
async fn whoever_is_above_reads_what_was_refused_below() {
    let (coder, _) = coder([asks("high")]);
    let lead = scripted_agent("lead", passes_on("coder", "code it"))
        .on_escalation(|_| reroute_to_skill("nothing"))
        .build();
    let boss = scripted_agent("boss", passes_on("lead", "plan it"))
        .on_escalation(|escalation| {
            let seen: Vec<_> = escalation.refused.iter().map(ToString::to_string).collect();
            agents::escalation::return_partial_result(seen.join("; "))
        })
        .build();
    let team = Member::new(boss)
        .delegate(Member::new(lead).delegate(coder))
        .build();
    assert_eq!(
        team.run("build").await.unwrap(),
        "`lead` could not turn to its skill `nothing`: it has no skills"
    );
}

/// Writes something down.
#[tool(writes)]
async fn jot(
    /// Text of the note.
    text: String,
) -> String {
    text
}

#[tokio::test]
async fn work_is_not_left_to_somebody_who_may_do_more() {
    let free = |name: &'static str| -> Plain {
        let script = [
            Script::call("jot", r#"{"text":"past it"}"#),
            Script::text("end"),
        ];
        scripted_agent(name, script).tool(Jot).build()
    };
    let lead = told_clerk("medium", move |_| reroute_to(free("free"))).build();
    let team = Member::new(lead).grant::<Work>().build();
    let (lines, outcome) = watched(team).await;
    assert_eq!(
        lines,
        [
            "! `clerk` could not leave its work to `free`: that has the tool `jot`, which `clerk` may not use freely; \
          hand on a placed delegate (`agents::team::delegate`), or grant it; it goes to the next agent above"
        ]
    );
    assert_eq!(outcome.result.unwrap(), "told");
    let names: Vec<_> = outcome.outputs.receipts().map(|one| &one.name).collect();
    assert_eq!(names, ["work"], "nothing was written");
}

#[tokio::test]
async fn a_handler_that_panics_is_seen() {
    let agent = told_clerk("low", |_| -> Resolution<String, String> { panic!("oops") }).build();
    let (lines, outcome) = watched(agent).await;
    assert_eq!(
        lines,
        [
            "! `clerk` could not decide: its `on_escalation` panicked: oops; it goes to the next agent above"
        ]
    );
    assert_eq!(outcome.result.unwrap(), "told");
}

#[tokio::test]
async fn what_has_been_done_often_enough_is_refused() {
    let refused = |outcome: &Outcome<String>| -> Vec<Option<String>> {
        let said = |refused: &[RefusedResolution]| refused.first().map(ToString::to_string);
        let receipts = outcome.escalations.iter();
        receipts.map(|one| said(&one.escalation.refused)).collect()
    };
    let script = |how: &'static str| {
        let turns = (0..5).map(move |turn| match turn {
            4 => Script::text("enough"),
            _ => asks(how),
        });
        scripted_model(turns)
    };
    let anew: Plain = AgentBuilder::new("clerk")
        .tool(Work)
        .model(script("medium"))
        .skill(Skill::model("again", "Again."))
        .on_escalation(|_| reroute_to_skill("again"))
        .build();
    let (lines, outcome) = watched(anew).await;
    let said = "`clerk` could not begin anew: it has done so 3 times";
    assert_eq!(
        lines,
        [format!("! {said}; it goes to the next agent above")]
    );
    assert_eq!(refused(&outcome), [None, None, None, Some(said.to_owned())]);

    let model = script("low");
    let same = model.clone();
    let given: Plain = AgentBuilder::new("clerk")
        .tool(Work)
        .model(model)
        .on_escalation(move |_| retry_with_model(same.clone()))
        .build();
    let (lines, outcome) = watched(given).await;
    let said = "`clerk` could not give the model `scripted`: the failed agent has gone on with 3 other models already";
    assert_eq!(
        lines,
        [format!("! {said}; it goes to the next agent above")]
    );
    assert_eq!(refused(&outcome), [None, None, None, Some(said.to_owned())]);
    assert_eq!(outcome.result.unwrap(), "enough");
}

#[tokio::test]
async fn a_stored_run_keeps_what_was_refused() {
    let agent = told_clerk("low", |_| reroute_to_skill("nothing")).build();
    let outcome = agent.run("go").outcome().await.unwrap();
    let text = serde_json::to_string(&outcome.escalations).unwrap();
    assert!(text.contains(r#""refused":[{"agent":"clerk""#), "{text}");
    let read: Vec<agents::escalation::EscalationReceipt> = serde_json::from_str(&text).unwrap();
    assert_eq!(read, outcome.escalations);
}
