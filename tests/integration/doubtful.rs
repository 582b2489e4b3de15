//! A tool that writes does not run on what may have been meant otherwise; one that reads does, and it is on
//! the receipt.

use agents::{
    Agent, AgentBuilder, Effects,
    reader::ChangeKind,
    recovery::*,
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
        "properties": { "guest": { "type": "string" }, "nights": { "type": "integer" } },
        "required": ["guest", "nights"],
    });
    ToolSpec::new("book", "Books a room.", effects, schema)
}

/// What a call with these arguments came to, and what the model was told of it.
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

const DOUBTFUL: [(&str, ChangeKind, &str); 6] = [
    (
        r#"{"guest":"Ida","nights":"3 weeks"}"#,
        ChangeKind::Extracted,
        "field `nights`: number taken out of \"3 weeks\", and a tool that writes does not run on that: send the value alone",
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
        "{\"guest\":\"Ida\",\"nights\":3\n",
        r#"{"nights":3,"guest":"Ida""#,
        r#"{"guest":"Ida","nights":3}{"guest":"Ida","nights":3}"#,
    ] {
        let (_, told) = call(Effects::Writes, arguments).await;
        assert!(told.starts_with("booked {"), "{arguments}: {told}");
    }
}

/// An arm may take the responsibility; then whoever approves sees that it did.
#[tokio::test]
async fn an_arm_settles_a_doubt_and_the_approver_sees_it() {
    let spec = booking(Effects::Writes).approval(tool::Approval::Always);
    let tool = FnTool::with_spec(spec, |args, _| async move {
        Ok::<_, Infallible>(format!("booked {args}"))
    });
    let arguments = r#"{"guest":"Ida","nights":"3 weeks"}"#;
    let (model, _) = ScriptedModel::new([Script::call("book", arguments), Script::text("done")]);
    let asked: Arc<Mutex<Vec<ApprovalRequest>>> = Arc::default();
    let seen = asked.clone();
    let agent = AgentBuilder::<String, String>::new("desk")
        .tool(tool)
        .on_error(|error: CallError<'_, AnyError>, _: &ErrorContext| {
            let CallError::Deserialization(..) = error else {
                return None;
            };
            Some(fix::<Deserialization>(r#"{"guest": "Ida", "nights": "21"}"#).into())
        })
        .model(model)
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
    assert_eq!(kinds, [ChangeKind::Fixed, ChangeKind::Coerced]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.repairs.len(), 2);
}
