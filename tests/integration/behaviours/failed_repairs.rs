//! Calls whose repairs all failed: messages describe the original failure, not the failed repairs.

use super::*;
use ::agents::{ErrorKind, Severity, console, reader::ChangeKind, recovery::*, run::RepairKind};
use serde_json::json;

/// Creates arms for every kind of error. Each asks this repair agent, and names itself in a hint.
fn each_with_a_hint(agent: ScribeAgent, retries: u32) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| {
        let agent = agent.clone();
        Some(match error {
            CallError::InvalidArgs(..) => feedback::<InvalidArgs>("hint for no object").into(),
            CallError::Deserialization(..) => fix_with::<Deserialization>(agent)
                .retries(retries)
                .or(feedback("hint for a field"))
                .into(),
            CallError::Execution(_) => fix_with::<Execution>(agent).retries(retries).into(),
            _ => return None,
        })
    }
}

fn notes(seen: &Seen) -> Vec<String> {
    let repairs = seen.receipt().repairs.iter();
    repairs.map(|change| change.note.clone()).collect()
}

#[tokio::test]
async fn prose_for_a_wrong_field_leaves_the_field_to_be_told() {
    let (agent, asked) = scribe(|_| Ok("I do not know, sorry".into()));
    let sent = r#"{"n": "a dozen"}"#;
    let seen = call(0, sent, each_with_a_hint(agent, 2)).await;
    let told = seen.told();
    assert!(
        told.starts_with("ERROR VALIDATION_ERROR (User) in `job`: field `n`: ")
            && told.contains("a dozen")
            && told.ends_with("; hint for a field"),
        "{told}"
    );
    let error = seen.error();
    assert_eq!(error.kind, "DeserializationError");
    let details = error.details.as_ref().unwrap();
    assert_eq!(
        (&details["path"], &details["raw_value"]),
        (&json!("n"), &json!(sent))
    );
    assert_eq!(seen.receipt().input.as_str(), sent);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert_eq!(
        (asked[1].raw.as_str(), asked[1].stage.as_str()),
        (sent, "deserialization_error")
    );
    assert_eq!(asked[1].previous[0].text, "I do not know, sorry");
    assert!(asked[1].previous[0].error.contains("no JSON found"));
    let tried = "`scribe` tried `I do not know, sorry` in vain: the arguments cannot be read: no JSON found; write a JSON object";
    let again = "`scribe` tried `I do not know, sorry` in vain: this text failed before";
    assert_eq!(notes(&seen), [tried, again]);
}

#[tokio::test]
async fn prose_for_a_failed_execution_leaves_its_failure_to_be_told() {
    for answer in ["try it tomorrow", r#"{"n": "four"}"#, r#"{"m": 4}"#] {
        let (agent, _) = scribe(move |_| Ok(answer.into()));
        let arms = on_failure(move |_| fix_with(agent.clone()));
        let seen = call(9, r#"{"n": 3}"#, arms).await;
        assert_eq!(
            seen.told(),
            "ERROR UNKNOWN (Terminal) in `job`: failure 1",
            "{answer}"
        );
        let receipt = seen.receipt();
        assert_eq!(
            (seen.error(), receipt.input.as_str()),
            (
                &**receipt.attempts[0].error.as_ref().unwrap(),
                r#"{"n": 3}"#
            )
        );
        assert_eq!((seen.runs, notes(&seen).len()), (1, 1));
    }
}

#[tokio::test]
async fn an_object_that_does_not_fit_is_mended_further() {
    let arms = |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(r#"{"n": "four",}"#).into()),
        CallError::Deserialization(Some(value), fault) if fault.field("n") => {
            let four = (value == "four").then_some(4);
            Some(sanitize::<Deserialization>(four).into())
        }
        _ => None,
    };
    let seen = call(0, "four, please", arms).await;
    assert_eq!(seen.told(), "did 4");
    let kinds: Vec<_> = seen
        .receipt()
        .repairs
        .iter()
        .map(|change| change.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            RepairKind::Fixed,
            ChangeKind::TrailingComma.into(),
            RepairKind::Fixed
        ]
    );
}

#[tokio::test]
async fn an_object_that_cannot_be_mended_uses_up_a_try_and_the_plan_goes_on() {
    let (agent, asked) = scribe(|repair| {
        Ok(match repair.attempt {
            1 => r#"{"n": "four"}"#,
            _ => r#"{"n": 4}"#,
        }
        .into())
    });
    let arms = on_args(move |_, _| fix_with(agent.clone()).retries(2));
    let seen = call(0, "four, please", arms).await;
    assert_eq!(seen.told(), "did 4");
    let asked = asked.lock().unwrap();
    assert_eq!(
        (asked[1].raw.as_str(), asked[1].stage.as_str()),
        ("four, please", "invalid_args")
    );
    assert_eq!(asked[1].previous[0].text, r#"{"n": "four"}"#);
    assert!(asked[1].previous[0].error.starts_with("field `n`: "));
    let notes = notes(&seen);
    assert!(notes[0].starts_with(r#"`scribe` tried `{"n": "four"}` in vain: field `n`: "#));
    assert_eq!(notes[1..], ["`scribe` gave the arguments anew"]);
}

#[tokio::test]
async fn the_plan_before_goes_on_where_the_one_for_a_repair_ends() {
    let arms = |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(..) => Some(
            fix::<InvalidArgs>(r#"{"n": "four"}"#)
                .or(fix(r#"{"n": 5}"#))
                .into(),
        ),
        CallError::Deserialization(..) => Some(
            sanitize::<Deserialization>("some")
                .or(sanitize("never"))
                .into(),
        ),
        _ => None,
    };
    let seen = call(0, "four, please", arms).await;
    assert_eq!(seen.told(), "did 5");
    let kinds: Vec<_> = seen
        .receipt()
        .repairs
        .iter()
        .map(|change| change.kind)
        .collect();
    let tried = RepairKind::Tried;
    assert_eq!(kinds, [tried, tried, tried, RepairKind::Fixed]);
}

/// The text `four` comes from an arm. A hint about it goes to the next repair step, not to the model or to agents
/// above.
#[tokio::test]
async fn what_an_arm_says_of_a_repair_is_for_the_next_try() {
    let said: [fn() -> Decision<Deserialization>; 2] = [
        || feedback("a number, please"),
        || escalate("a number, please").severity(Severity::Critical),
    ];
    for arm in said {
        for (second, told) in [
            (r#"{"n": 4}"#, "did 4"),
            (r#"{"n": "vier"}"#, "no JSON found; write a JSON object; "),
        ] {
            let (agent, asked) = scribe(move |repair| match repair.attempt {
                1 => Ok(r#"{"n": "four"}"#.into()),
                _ => Ok(second.into()),
            });
            let arms = move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
                CallError::InvalidArgs(..) => Some(
                    fix_with::<InvalidArgs>(agent.clone())
                        .retries(2)
                        .or(feedback("write JSON"))
                        .into(),
                ),
                CallError::Deserialization(..) => Some(arm().into()),
                _ => None,
            };
            let seen = call(0, "four, please", arms).await;
            assert!(seen.told().contains(told), "{}", seen.told());
            assert!(!seen.told().contains("a number, please"), "{}", seen.told());
            let failed = told != "did 4";
            assert_eq!(seen.told().ends_with("; write JSON"), failed);
            assert!(seen.outcome.escalations.is_empty());
            let asked = asked.lock().unwrap();
            let [first] = &asked[1].previous[..] else {
                panic!("{asked:?}")
            };
            assert!(first.error.ends_with("; a number, please"), "{first:?}");
            assert!(notes(&seen)[0].ends_with("; a number, please"));
        }
    }
}

#[tokio::test]
async fn a_throw_about_a_repair_ends_the_run() {
    let arms = |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(r#"{"n": "four"}"#).into()),
        CallError::Deserialization(..) => Some(throw::<Deserialization>("an attack").into()),
        _ => None,
    };
    let seen = call(0, "four, please", arms).await;
    assert_eq!(seen.outcome.result.unwrap_err().kind(), ErrorKind::Thrown);
}

#[tokio::test]
async fn what_an_arm_says_of_a_repaired_answer_is_for_the_next_try() {
    for escalates in [false, true] {
        let (agent, asked) = scribe(|repair| match repair.attempt {
            1 => Ok("[1, \"two\"]".into()),
            _ => Ok("[1, 2]".into()),
        });
        let (model, handle) = ScriptedModel::new([Script::text("one and two")]);
        let counter = AgentBuilder::<String, Vec<u32>>::new("counter")
            .model(model)
            .on_error(move |error, _| match error {
                CallError::InvalidOutput(raw, _) => Some(match raw.starts_with('[') {
                    true if escalates => escalate::<InvalidOutput>("numbers, please").into(),
                    true => feedback::<InvalidOutput>("numbers, please").into(),
                    false => fix_with::<InvalidOutput>(agent.clone()).retries(2).into(),
                }),
                _ => None,
            })
            .build();
        let outcome = counter.run("Count.").outcome().await.unwrap();
        assert_eq!(outcome.result.unwrap(), [1, 2]);
        assert_eq!((handle.count(), outcome.escalations.len()), (1, 0));
        let asked = asked.lock().unwrap();
        assert!(asked[1].previous[0].error.ends_with("; numbers, please"));
    }
}

#[tokio::test]
async fn a_value_that_settles_its_field_leaves_the_next_to_be_told() {
    let arms = |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::Deserialization(_, fault) if fault.field("n") => {
            Some(sanitize::<Deserialization>(4).into())
        }
        _ => None,
    };
    let seen = call(0, r#"{"n": "four", "name": {"first": 1}}"#, arms).await;
    assert!(
        seen.told()
            .starts_with("ERROR VALIDATION_ERROR (User) in `job`: field `name`: "),
        "{}",
        seen.told()
    );
    assert_eq!(seen.error().details.as_ref().unwrap()["path"], "name");
    // A replacement that does not fit is an attempt, and the model's own value is still reported as wrong.
    let arms = on_field(|_, _| sanitize("a few"));
    let seen = call(0, r#"{"n": "four"}"#, arms).await;
    assert!(seen.told().contains("\"four\""), "{}", seen.told());
    assert!(!seen.told().contains("a few"), "{}", seen.told());
    // Whoever looks on sees whose value it was, and whose it was not.
    let failed = seen.events.iter().filter_map(|event| match &event.kind {
        EventKind::CallFailed { error, .. } => Some((error, console::line(event, false)?)),
        _ => None,
    });
    let failed: Vec<_> = failed.collect();
    let [(of_the_model, first), (of_the_arm, second)] = &failed[..] else {
        panic!("{failed:?}");
    };
    assert_eq!(of_the_model.given_by(), None);
    assert!(first.starts_with(r#"! job {"n": "four"} → "#), "{first}");
    assert_eq!(of_the_arm.given_by(), Some("sanitize"));
    let begin = r#"! job {"n": "a few"} (given by `sanitize`) → "#;
    assert!(second.starts_with(begin), "{second}");
    assert_eq!(seen.error().given_by(), None);
    let arms = on_field(|_, fault| match fault.field("n") {
        true => sanitize(4),
        false => fix(r#"{"n": "five"}"#),
    });
    let seen = call(0, r#"{"n": "four", "name": {"first": 1}}"#, arms).await;
    let by = seen.events.iter().filter_map(|event| match &event.kind {
        EventKind::CallFailed { error, .. } => Some(error.given_by()),
        _ => None,
    });
    assert_eq!(by.collect::<Vec<_>>(), [None, None, Some("fix")]);
}

#[tokio::test]
async fn what_is_handed_up_is_the_call_as_the_model_made_it() {
    let (agent, _) = scribe(|_| Err(Error::escalated("nobody can read this", Severity::Low)));
    let arms = move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(r#"{"n": "four"}"#).into()),
        CallError::Deserialization(..) => Some(fix_with::<Deserialization>(agent.clone()).into()),
        _ => None,
    };
    let seen = call(0, "four, please", arms).await;
    assert!(seen.told().contains("nobody can read this"));
    let original = &seen.error().details.as_ref().unwrap()["original"];
    assert_eq!(
        (&original["kind"], &original["details"]["raw_args"]),
        (&json!("InvalidArgs"), &json!("four, please"))
    );
}

#[tokio::test]
async fn a_model_is_told_what_was_wrong_with_its_own_answer() {
    let (agent, asked) = scribe(|repair| match repair.attempt {
        1 => Ok("no idea".into()),
        _ => Ok("[1, \"two\"]".into()),
    });
    let (model, handle) =
        ScriptedModel::new([Script::text("[1, 2, \"some\"]"), Script::text("[1]")]);
    let counter = AgentBuilder::<String, Vec<u32>>::new("counter")
        .model(model)
        .on_error(move |error, _| match error {
            CallError::InvalidOutput(..) => {
                Some(fix_with::<InvalidOutput>(agent.clone()).retries(2).into())
            }
            _ => None,
        })
        .build();
    let outcome = counter.run("Count.").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), [1]);
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.starts_with("Your answer cannot be used: field `[2]`: ") && told.contains("some"),
        "{told}"
    );
    let asked = asked.lock().unwrap();
    assert_eq!(
        (asked.len(), asked[1].raw.as_str()),
        (2, "[1, 2, \"some\"]")
    );
}
