//! Uncertain arguments: a tool that writes does not run on them. A tool that reads does, and the receipt says so.

use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Effects,
    reader::ChangeKind,
    recovery::*,
    run::RepairKind,
    run::{Approval, ApprovalRequest, Outcome},
    testing::{Script, ScriptedModel},
    tool::{self, FnTool, ToolSpec},
};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

fn booking(effects: Effects) -> ToolSpec {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "guest": { "type": "string" },
            "nights": { "type": "integer" },
            "quiet": { "type": "boolean", "default": false },
            "extras": { "type": "array", "items": { "type": "string" } },
            "at": {
                "type": "object",
                "properties": { "floor": { "type": "integer" }, "view": { "type": "string" } },
                "required": ["view"],
            },
        },
        "required": ["guest", "nights"],
    });
    ToolSpec::new("book", "Books a room.", effects, schema)
}

/// Runs a call with these arguments; returns the outcome and the result as the model got it.
async fn call(effects: Effects, arguments: &str) -> (Outcome<String>, String) {
    let tool = FnTool::with_spec(booking(effects), |args, _| async move {
        Ok::<_, Infallible>(format!("booked {args}"))
    });
    let (model, handle) =
        ScriptedModel::new([Script::call("book", arguments), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("desk")
        .tool(tool)
        .model(model)
        .build();
    let outcome = agent.run("A room, please.").outcome().await.unwrap();
    let told = handle.requests()[1].last().to_owned();
    (outcome, told)
}

const DOUBTFUL: [(&str, ChangeKind, &str); 17] = [
    (
        r#"{"guest":"Ida","nights_in_march":3}"#,
        ChangeKind::Inferred,
        "field `nights`: the value of \"nights_in_march\", the one key that was left over, and a tool that writes does not run on that: write the name of the field that is meant",
    ),
    (
        r#"{"guest":"Ida","nights":"3 weeks"}"#,
        ChangeKind::Extracted,
        "field `nights`: number taken out of \"3 weeks\", and a tool that writes does not run on that: send the value alone, as JSON has it",
    ),
    (
        r#"{"guest":"Ida","nights":"~3"}"#,
        ChangeKind::Extracted,
        "number taken out of \"~3\"",
    ),
    (
        r#"{"guest":"Ida","nights":"1,200"}"#,
        ChangeKind::Extracted,
        "number taken out of \"1,200\"",
    ),
    (
        r#"{"guest":"Ida","nights":2,"quiet":"disabled"}"#,
        ChangeKind::Extracted,
        "boolean taken out of \"disabled\"",
    ),
    (
        r#"{"guest":"Ida","nights":1"#,
        ChangeKind::CutOff,
        "send the whole object again, to its closing bracket",
    ),
    (
        r#"{"nights":2,"guest":"Id"#,
        ChangeKind::CutOff,
        "the text ended inside a string, which was closed",
    ),
    // An optional field may have followed.
    (
        r#"{"nights":2,"guest":"Ida","#,
        ChangeKind::CutOff,
        "the text ended, and there may have been more of it",
    ),
    (
        r#"{"nights":2,"guest":"Ida","quiet":"#,
        ChangeKind::CutOff,
        "the text ended, and there may have been more of it",
    ),
    (
        r#"{"nights":2,"guest":"Ida""#,
        ChangeKind::CutOff,
        "the text ended, and `at` may have been to come",
    ),
    (
        r#"{"nights":2,"quiet":true,"guest":"Ida","extras":["tea""#,
        ChangeKind::CutOff,
        "the text ended, and there may have been more of it",
    ),
    (
        r#"{"nights":2,"quiet":true,"guest":"Ida","extras":["tea"],"at":{"view":"sea""#,
        ChangeKind::CutOff,
        "the text ended, and `floor` may have been to come",
    ),
    (
        r#"{"nights":2,"quiet":true,"guest":"Ida","extras":["tea"]"#,
        ChangeKind::CutOff,
        "the text ended, and `at` may have been to come",
    ),
    (
        r#"book(nights=2, guest="Ida", "#,
        ChangeKind::CutOff,
        "the text ended, and there may have been more of it",
    ),
    (
        r#"I will not book {"guest":"Ola","nights":2}, I book {"guest":"Ida","nights":3}"#,
        ChangeKind::Chosen,
        "taken as the best of several values in the text",
    ),
    (
        r#"Do not run {"guest":"Ola","nights":2}"#,
        ChangeKind::Chosen,
        "send one JSON object and nothing else",
    ),
    (
        r#"You shouldn’t book this: {"guest":"Ola","nights":2}"#,
        ChangeKind::Chosen,
        "taken although the text before it has a `not`",
    ),
];

#[tokio::test]
async fn what_writes_does_not_run_on_a_doubt() {
    for (arguments, _, reason) in DOUBTFUL {
        let (outcome, told) = call(Effects::Writes, arguments).await;
        assert!(
            told.starts_with("ERROR VALIDATION_ERROR (User)") && told.contains(reason),
            "{arguments}: {told}"
        );
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(receipt.attempts.is_empty() && receipt.repairs.is_empty());
        assert!(receipt.error.is_some(), "{arguments}");
    }
}

#[tokio::test]
async fn what_reads_runs_and_the_receipt_has_it() {
    for (arguments, kind, _) in DOUBTFUL {
        let (outcome, told) = call(Effects::Reads, arguments).await;
        assert!(told.contains("booked"), "{arguments}: {told}");
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(
            receipt.repairs.any(kind),
            "{arguments}: {}",
            receipt.repairs
        );
    }
}

#[tokio::test]
async fn what_can_mean_one_thing_only_is_written() {
    for arguments in [
        r#"{'guest': 'Ida', nights: "3",}"#,
        "```json\n{\"guest\":\"Ida\",\"nights\":3}\n```",
        r#"Sure, I do that: {"guest":"Ida","nights":3}"#,
        // The brace is there, so only the quote is missing.
        r#"{"nights":3,"guest":"Ida}"#,
        r#"{"nights":3,"quiet":true,"extras":[],"at":{"view":"sea","floor":2},"guest":"Ida""#,
        r#"{"nights":3,"quiet":true,"extras":[],"guest":"Ida","at":{"floor":2,"view":"sea""#,
        r#"{"guest":"Ida","nights":3}{"guest":"Ida","nights":3}"#,
    ] {
        let (_, told) = call(Effects::Writes, arguments).await;
        assert!(told.starts_with("booked {"), "{arguments}: {told}");
    }
}

/// Cut-off arguments are reported as cut off, not as arguments with a missing or wrong field.
#[tokio::test]
async fn what_broke_off_is_told_as_that() {
    for (arguments, why) in [
        (r#"{"nights":2,"gue"#, "`guest`: required, and missing"),
        (
            r#"{"guest":"Ida","nights":2,"quiet":tr"#,
            "`quiet`: expected true or false, got tr",
        ),
        (
            r#"{"guest":"Ida","nights":"x"#,
            "`nights`: expected an integer",
        ),
    ] {
        for effects in [Effects::Reads, Effects::Writes] {
            let (_, told) = call(effects, arguments).await;
            for said in ["send the whole object again, to its closing bracket", why] {
                assert!(told.contains(said), "{arguments}: {told}");
            }
        }
    }
}

/// An arm may accept uncertain arguments; the approver then sees that it did.
#[tokio::test]
async fn an_arm_settles_a_doubt_and_the_approver_sees_it() {
    let spec = booking(Effects::Writes).approval(tool::NeedsApproval::Always);
    let tool = FnTool::with_spec(spec, |args, _| async move {
        Ok::<_, Infallible>(format!("booked {args}"))
    });
    let arguments = r#"{"guest":"Ida","nights":"3 weeks"}"#;
    let asked: Arc<Mutex<Vec<ApprovalRequest>>> = Arc::default();
    let seen = asked.clone();
    let script = [Script::call("book", arguments), Script::text("done")];
    let agent = scripted_agent("desk", script)
        .tool(tool)
        .on_error(|error: CallError<'_, AnyError>, _: &ErrorContext| {
            let CallError::Deserialization(..) = error else {
                return None;
            };
            Some(fix::<Deserialization>(r#"{"guest": "Ida", "nights": "21"}"#).into())
        })
        .build();
    let outcome = agent
        .run("Three weeks for Ida.")
        .approver(move |request: ApprovalRequest| {
            seen.lock().unwrap().push(request);
            async { Approval::Approve }
        })
        .outcome()
        .await
        .unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0].args.as_str(), r#"{"guest":"Ida","nights":21}"#);
    let kinds: Vec<_> = asked[0].repairs.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [RepairKind::Fixed, ChangeKind::Coerced.into()]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.repairs.len(), 2);
}
