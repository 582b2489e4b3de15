//! Earlier failures in the report to a repair agent: all of them, beginning with the model's own text, and none twice.

use super::*;
use crate::world::scripted_agent;
use ::agents::{recovery::*, run::Approval};

fn story(repair: &Repair) -> Vec<[&str; 3]> {
    let previous = repair.previous.iter();
    previous
        .map(|tried| [&*tried.by, &tried.text, &tried.error])
        .collect()
}

#[tokio::test]
async fn the_story_begins_with_what_the_model_wrote() {
    let (agent, asked) = scribe(|repair| match repair.attempt {
        1 => Ok("five".into()),
        2 => Ok(r#"{"n": 3}"#.into()),
        _ => Ok(r#"{"n": 5}"#.into()),
    });
    let arms = on_failure(move |_| {
        let first = fix(Some(r#"{"n": 4}"#.to_owned()));
        first.or(fix_with(agent.clone()).retries(3))
    });
    let seen = call(2, r#"{"n": 3}"#, arms).await;
    assert_eq!(seen.told(), "did 5");
    assert_eq!(seen.runs, 3, "what failed once does not run again");
    let asked = asked.lock().unwrap();
    for repair in &*asked {
        assert_eq!(
            [&*repair.raw, &*repair.error, &*repair.stage],
            [r#"{"n": 4}"#, "failure 2", "execution_error"]
        );
    }
    let mut before = vec![["the model", r#"{"n": 3}"#, "failure 1"]];
    assert_eq!(story(&asked[0]), before);
    let unread = "the arguments cannot be read: no JSON found; write a JSON object";
    before.push(["scribe", "five", unread]);
    assert_eq!(story(&asked[1]), before);
    before.push(["scribe", r#"{"n": 3}"#, "this text failed before"]);
    assert_eq!(story(&asked[2]), before);
    assert_eq!(
        asked[0].to_string().lines().nth(3).unwrap(),
        r#"The model wrote this at first (failure 1): {"n": 3}"#
    );
}

#[tokio::test]
async fn another_execution_of_the_same_arguments_is_no_other_text() {
    let (agent, asked) = scribe(|_| Ok(r#"{"n": 4}"#.into()));
    let arms = on_failure(move |_| {
        let again = retry().max_attempts(2).backoff(none());
        again.or(fix_with(agent.clone()))
    });
    let seen = call(2, r#"{"n": 3}"#, arms).await;
    assert_eq!(seen.told(), "did 4");
    let asked = asked.lock().unwrap();
    assert_eq!(
        (&*asked[0].raw, &*asked[0].error),
        (r#"{"n": 3}"#, "failure 2")
    );
    assert!(asked[0].previous.is_empty(), "{asked:?}");
}

#[tokio::test]
async fn of_a_repair_in_need_of_repair_the_text_before_it_is_told() {
    let (agent, asked) = scribe(|_| Ok(r#"{"n": 4}"#.into()));
    let arms = move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(r#"{"n": "four",}"#).into()),
        CallError::Deserialization(..) => Some(fix_with::<Deserialization>(agent.clone()).into()),
        _ => None,
    };
    let seen = call(0, "four, please", arms).await;
    assert_eq!(seen.told(), "did 4");
    let asked = asked.lock().unwrap();
    assert_eq!(
        (&*asked[0].raw, &*asked[0].stage),
        (r#"{"n":"four"}"#, "deserialization_error")
    );
    let unread = "the arguments cannot be read: no JSON found; write a JSON object";
    assert_eq!(story(&asked[0]), [["the model", "four, please", unread]]);
}

/// The plan for the model's text continues after a denial, and so does the list of earlier failures.
#[tokio::test]
async fn what_was_denied_was_a_try() {
    let (agent, asked) = scribe(|_| Err(Error::new(::agents::ErrorKind::Failed, "no idea")));
    let tool = Job {
        runs: Arc::default(),
        failures: 9,
    };
    let script = [Script::call("job", r#"{"n": 3}"#), Script::text("end")];
    let worker = scripted_agent("worker", script)
        .tool(tool)
        .on_error(on_failure(move |_| {
            let first = fix(Some(r#"{"n": 4}"#.to_owned()));
            first.or(fix_with(agent.clone()))
        }))
        .build();
    let times = AtomicU32::new(0);
    let run = worker
        .run("go")
        .policy(::agents::policy::confirm_tools("job"))
        .approver(move |_| {
            let time = times.fetch_add(1, SeqCst);
            async move {
                match time {
                    0 => Approval::Approve,
                    _ => Approval::deny("once is enough"),
                }
            }
        });
    run.outcome().await.unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(
        (&*asked[0].raw, &*asked[0].error),
        (r#"{"n": 3}"#, "failure 1")
    );
    assert_eq!(
        story(&asked[0]),
        [["fix", r#"{"n": 4}"#, "not approved: once is enough"]]
    );
}

/// A repair agent that calls the failed tool gets an error, since that is none of its tools. The trace names the
/// repair agent as the caller.
#[tokio::test]
async fn a_call_that_a_repair_agent_makes_is_known_by_its_caller() {
    let script = [Script::call("job", r#"{"n": 3}"#), Script::text("3")];
    let (model, _) = ScriptedModel::new(script);
    let scribe = AgentBuilder::<Repair, String>::new("scribe").model(model);
    let scribe = Arc::new(scribe.build());
    let seen = call(0, "three", on_args(move |_, _| fix_with(scribe.clone()))).await;
    let outcome = &seen.outcome;
    let receipts = outcome.outputs.receipts();
    let told: Vec<_> = receipts
        .map(|receipt| {
            let caller = outcome.trace.caller(&receipt.call_id);
            (&*receipt.name, caller.unwrap(), receipt.version.is_empty())
        })
        .collect();
    assert_eq!(told, [("job", "worker", false), ("job", "scribe", true)]);
    let refused = outcome.outputs.receipts().nth(1).unwrap().error.as_ref();
    let said = &refused.unwrap().message;
    assert!(said.contains("`escalate`, `throw_exception`"), "{said}");
    assert_eq!(outcome.trace.caller("nobody's"), None);
}
