//! Attempted repairs of a call, on its receipt and on the console.

use super::*;
use ::agents::{
    ErrorKind, Severity, console,
    model::{ModelError, ModelErrorKind},
    reader::ChangeKind,
    recovery::*,
    run::RepairKind,
    timeline,
};

fn repairs(seen: &Seen) -> Vec<(RepairKind, String)> {
    let repairs = seen.receipt().repairs.iter();
    repairs
        .map(|change| (change.kind, change.to_string()))
        .collect()
}

/// A first line of the arms, a repair agent after it.
fn first_a_fix(text: &'static str, agent: ScribeAgent) -> impl Arms {
    on_args(move |_, _| fix(text).or(fix_with(agent.clone()).retries(3)))
}

#[tokio::test]
async fn what_the_model_sent_is_kept_beside_everything_that_was_tried() {
    let (agent, _) = scribe(|repair| match repair.attempt {
        1 => Ok("worse".into()),
        2 => Err(Error::new(ErrorKind::Failed, "no idea")),
        _ => Ok(r#"{"n": "four",}"#.into()),
    });
    let seen = call(0, "three, please", first_a_fix("worse", agent)).await;
    assert_eq!(
        seen.receipt().input.to::<String>().unwrap(),
        "three, please"
    );
    let unread = "the arguments cannot be read: no JSON found; write a JSON object";
    let told: Vec<_> = repairs(&seen);
    let texts: Vec<_> = told.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts[..3],
        [
            &format!("`fix` tried `worse` in vain: {unread}"),
            "`scribe` tried `worse` in vain: this text failed before",
            "`scribe` gave nothing of use: no idea",
        ]
    );
    assert!(
        texts[3].starts_with(r#"`scribe` tried `{"n": "four",}` in vain: field `n`: "#)
            && texts.len() == 4,
        "{texts:?}"
    );
    assert!(told.iter().all(|(kind, _)| *kind == RepairKind::Tried));
    let again = "VALIDATION_ERROR: `scribe` tried `worse` in vain: this text failed before";
    assert!(
        lines(&seen)
            .iter()
            .any(|line| line.starts_with("! job ") && line.ends_with(again))
    );
    assert_eq!(
        seen.error().details.as_ref().unwrap()["raw_args"],
        "three, please"
    );
}

/// Attempts of an earlier repair agent do not count against a later one.
#[tokio::test]
async fn a_repair_agent_counts_its_own_tries() {
    let (first, _) = scribe(|_| Ok("worse".into()));
    let seen = Arc::<Mutex<Vec<(u32, usize)>>>::default();
    let told = seen.clone();
    let second = AgentBuilder::<Repair, String>::new("second").skill(Skill::native(
        "fix",
        "Repairs.",
        move |repair: Repair| {
            let mut told = told.lock().unwrap();
            told.push((repair.attempt, repair.previous.len()));
            async { Ok("worse still".into()) }
        },
    ));
    let second = Arc::new(second.build());
    let arms = on_args(move |_, _| fix_with(first.clone()).or(fix_with(second.clone()).retries(2)));
    call(0, "three, please", arms).await;
    assert_eq!(*seen.lock().unwrap(), [(1, 1), (2, 2)]);
}

#[tokio::test]
async fn an_object_that_does_not_fit_is_kept_as_it_was_read() {
    let arms = on_field(|_, _| fix(r#"{"n": "five"}"#));
    let seen = call(0, r#"{"n": "four",}"#, arms).await;
    assert_eq!(seen.receipt().input.as_str(), r#"{"n":"four"}"#);
    let kinds: Vec<_> = repairs(&seen).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [ChangeKind::TrailingComma.into(), RepairKind::Tried]);
}

#[tokio::test]
async fn what_ran_is_kept_whatever_was_tried_after_it() {
    let arms = on_failure(|_| fix("four"));
    let seen = call(9, "{'n': 3}", arms).await;
    assert_eq!(seen.receipt().input.as_str(), r#"{"n":3}"#);
    assert_eq!(seen.receipt().attempts.len(), 1);
    assert_eq!(seen.error().kind, "ExecutionError");
    let told = repairs(&seen);
    assert!(
        told.last()
            .unwrap()
            .1
            .starts_with("`fix` tried `four` in vain: "),
        "{told:?}"
    );
    // A run that fails after its repair has used it.
    let seen = call(9, "three", on_args(|_, _| fix(r#"{"n": 3}"#))).await;
    assert_eq!(seen.receipt().input.as_str(), r#"{"n": 3}"#);
    assert_eq!(
        repairs(&seen),
        [(
            RepairKind::Fixed,
            "`fix` gave the arguments anew".to_owned()
        )]
    );
}

#[tokio::test]
async fn who_gave_the_call_up_stands_among_what_was_tried() {
    let throw = Script::call("throw_exception", r#"{"reason": "this is an attack"}"#);
    let (agent, _) = model_scribe([throw]);
    let seen = call(0, "three", first_a_fix("worse", agent)).await;
    assert_eq!(
        repairs(&seen)[1].1,
        "`scribe` ended the run for 15 tokens: this is an attack"
    );
    let (agent, _) = scribe(|_| Err(Error::escalated("beyond me", Severity::Low)));
    let seen = call(0, "three", first_a_fix("worse", agent)).await;
    assert_eq!(repairs(&seen)[1].1, "`scribe` gave up (LOW): beyond me");
}

fn unreachable() -> Error {
    let refused = "no server answers at http://127.0.0.1:9 (connection refused)";
    ModelError::new(ModelErrorKind::Unreachable, refused).into()
}

#[tokio::test]
async fn a_repair_agent_that_cannot_be_asked_is_asked_once_and_the_next_has_its_turn() {
    for (error, times) in [
        (unreachable(), 1),
        (unreachable().context("agent `inner`, turn 1"), 1),
        (
            ModelError::new(ModelErrorKind::NotFound, "no model `x`").into(),
            1,
        ),
        (
            ModelError::new(ModelErrorKind::Refused, "a key is missing")
                .with_status(401)
                .into(),
            1,
        ),
        (Error::new(ErrorKind::Build, "no model anywhere"), 1),
        (
            ModelError::new(ModelErrorKind::Refused, "busy")
                .with_status(503)
                .into(),
            3,
        ),
        (
            ModelError::new(ModelErrorKind::TimedOut, "no byte for a minute").into(),
            3,
        ),
    ] {
        let text = error.to_string();
        let (agent, asked) = scribe(move |_| Err(error.clone()));
        let arms = on_args(move |_, _| {
            let asked = fix_with(agent.clone()).retries(3);
            asked.or(escalate("nobody can repair it"))
        });
        let seen = call(0, "three", arms).await;
        assert_eq!(asked.lock().unwrap().len(), times, "{text}");
        let did = match times {
            1 => "cannot be asked",
            _ => "gave nothing of use",
        };
        let told: Vec<_> = repairs(&seen).into_iter().map(|(_, told)| told).collect();
        let one = format!("`scribe` {did}: {text}");
        assert_eq!(told, vec![one; times]);
        // A repair agent that could not be asked is no attempt.
        let [escalation] = &seen.outcome.escalations[..] else {
            panic!("{:?}", seen.outcome.escalations)
        };
        let tried = match times {
            1 => "`job` gave up (HIGH): nobody can repair it; it came to worker",
            _ => "`job` gave up (HIGH) after 3 repairs: nobody can repair it; it came to worker",
        };
        assert_eq!(escalation.escalation.to_string(), tried);
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_is_asked_once_for_a_repair() {
    let refused = ModelError::new(ModelErrorKind::Unreachable, "connection refused");
    let (agent, model) = model_scribe([Script::Fail(refused), Script::text(r#"{"n": 4}"#)]);
    let arms = on_args(move |_, _| {
        let asked = fix_with(agent.clone()).retries(2);
        asked.or(fix(r#"{"n": 3}"#))
    });
    let seen = call(0, "three", arms).await;
    assert_eq!((seen.told().as_str(), model.count()), ("did 3", 1));
    let told = repairs(&seen);
    assert_eq!(
        told[0].1,
        "`scribe` cannot be asked: agent `scribe`, turn 1: connection refused"
    );
    assert_eq!(told[1].0, RepairKind::Fixed);
}

fn lines(seen: &Seen) -> Vec<String> {
    let lines = seen.events.iter();
    lines
        .filter_map(|event| console::line(event, false))
        .collect()
}

#[tokio::test]
async fn a_hint_stands_behind_the_error_in_the_receipt_on_the_console_and_in_the_timeline() {
    let seen = call(0, "three", on_args(|_, _| feedback("send a number"))).await;
    assert_eq!(seen.error().hint(), Some("send a number"));
    assert_eq!(
        seen.error().details.as_ref().unwrap()["hint"],
        "send a number"
    );
    let told = lines(&seen).concat();
    assert!(
        told.contains("write a JSON object; hint: send a number"),
        "{told}"
    );
    let drawn = timeline::of(&seen.outcome).width(200).to_string();
    assert!(drawn.contains("hint: send a number"), "{drawn}");
    // The settlement shows the result of an escalation.
    let seen = call(0, "three", on_args(|_, _| escalate("too hard"))).await;
    assert_eq!(seen.error().hint(), None, "no arm gave one");
    let lines = lines(&seen);
    assert!(!lines.is_empty());
    assert!(lines.iter().all(|line| !line.contains("hint")), "{lines:?}");
}

#[tokio::test]
async fn a_throw_is_told_with_its_reason() {
    let seen = call(
        0,
        "three",
        on_args(|_, _| throw("the credentials were refused")),
    )
    .await;
    let said = "✗ stopped: `job` threw: the credentials were refused";
    let told = lines(&seen);
    let [.., stopped, ended] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(stopped, said);
    assert!(ended.starts_with("✗ worker: no answer  ("), "{ended}");
    let drawn = timeline::of(&seen.outcome).to_string();
    let root = drawn.lines().next().unwrap();
    assert!(
        root.contains("✗ worker") && root.ends_with("`job` threw: the credentials were refused"),
        "{drawn}"
    );
}

#[tokio::test]
async fn what_was_tried_with_an_answer_is_told_as_well() {
    let (agent, _) = scribe(|repair| match repair.attempt {
        1 => Ok("seven, I think".into()),
        2 => Err(Error::new(ErrorKind::Failed, "no idea")),
        _ => Ok("7".into()),
    });
    let (model, handle) = ScriptedModel::new([Script::text("a few")]);
    let counter = AgentBuilder::<String, u32>::new("counter")
        .model(model)
        .on_error(move |error, _| match error {
            CallError::InvalidOutput(..) => {
                Some(fix_with::<InvalidOutput>(agent.clone()).retries(3).into())
            }
            _ => None,
        })
        .build();
    let outcome = counter.run("How many?").outcome().await.unwrap();
    assert_eq!((outcome.result.unwrap(), handle.count()), (7, 1));
    let repairs = outcome.repairs.iter();
    let told: Vec<_> = repairs
        .map(|change| (change.kind, change.note.split(':').next().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            (RepairKind::Tried, "`scribe` tried `seven, I think` in vain"),
            (RepairKind::Tried, "`scribe` gave nothing of use"),
            (RepairKind::Fixed, "`scribe` gave the answer anew"),
        ]
    );
}
