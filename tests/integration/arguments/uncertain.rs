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

/// Runs an agent whose model prints this text; returns the arguments that the tool got, and what the model was told.
async fn print_call(effects: Effects, text: &str) -> (Vec<String>, String, Outcome<String>) {
    let got: Arc<Mutex<Vec<String>>> = Arc::default();
    let gets = got.clone();
    let tool = FnTool::with_spec(booking(effects), move |args, _| {
        gets.lock().unwrap().push(args.to_string());
        async { Ok::<_, Infallible>("booked") }
    });
    let (model, handle) = ScriptedModel::new([Script::text(text), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("desk")
        .tool(tool)
        .model(model)
        .build();
    let outcome = agent.run("A room, please.").outcome().await.unwrap();
    let told = handle.requests()[1].last().to_owned();
    let got = got.lock().unwrap().clone();
    (got, told, outcome)
}

/// Texts of a model in which the value of a parameter may end in two places, or in which not every call can be read.
const DOUBTFUL_TEXTS: [(&str, &str); 4] = [
    (
        "<tool_call><function=book><parameter=nights>2</parameter><parameter=guest>\nIda, not <parameter=extras>Ola\n</parameter></function></tool_call>",
        "the value has no end tag, and may end elsewhere",
    ),
    (
        "<tool_call>book<arg_key>nights</arg_key><arg_value>2</arg_value><arg_key>guest</arg_key><arg_value>Ida<arg_key>extras</arg_key><arg_value>Ola</arg_value></tool_call>",
        "the value holds tags of calls, and may end at one of them or go on",
    ),
    (
        r#"{"name":"book","arguments":{"guest":"Ida","nights":2}}, {"nome":"book","arguments":{"guest":"Ola","nights":2}}, {"name":"book","arguments":{"guest":"Eva","nights":2}}"#,
        "other text among the calls was not read, and may be a call as well",
    ),
    (
        r#"<tool_call>{"name":"book","arguments":{"guest":"Ida","nights":2}}</tool_call><tool_call>book: Ola</tool_call>"#,
        "other text among the calls was not read, and may be a call as well",
    ),
];

#[tokio::test]
async fn what_writes_does_not_run_on_a_printed_call_in_doubt() {
    for (text, reason) in DOUBTFUL_TEXTS {
        let (got, told, outcome) = print_call(Effects::Writes, text).await;
        assert!(got.is_empty(), "{text}: {got:?}");
        assert!(told.contains(reason), "{text}: {told}");
        let receipts: Vec<_> = outcome.outputs.receipts().collect();
        assert!(!receipts.is_empty() && receipts.iter().all(|receipt| receipt.error.is_some()));
    }
}

#[tokio::test]
async fn what_reads_runs_on_a_printed_call_in_doubt_and_the_receipt_has_it() {
    for (text, reason) in DOUBTFUL_TEXTS {
        let (got, _, outcome) = print_call(Effects::Reads, text).await;
        assert!(!got.is_empty(), "{text}");
        for receipt in outcome.outputs.receipts() {
            let mut steps = receipt.repairs.iter();
            let is_told = steps.any(|step| step.uncertain && step.note == reason);
            assert!(is_told, "{text}: {}", receipt.repairs);
        }
    }
}

/// Each of several printed calls is executed, whatever stands between them.
#[tokio::test]
async fn printed_calls_in_a_row_are_all_executed() {
    let call =
        |guest: &str| format!(r#"{{"name":"book","arguments":{{"guest":"{guest}","nights":2}}}}"#);
    for joint in [", ", ",\n", "; ", "\n", " and ", "\n- ", "\n```\n```json\n"] {
        let text = ["Ida", "Ola", "Eva"].map(call).join(joint);
        let text = match joint.contains("```") {
            true => format!("```json\n{text}\n```"),
            false => text,
        };
        let (got, ..) = print_call(Effects::Writes, &text).await;
        let mut guests: Vec<&str> = Vec::new();
        for guest in ["Ida", "Ola", "Eva"] {
            if got.iter().any(|args| args.contains(guest)) {
                guests.push(guest);
            }
        }
        assert_eq!(
            (guests, got.len()),
            (vec!["Ida", "Ola", "Eva"], 3),
            "{text}"
        );
    }
}

#[tokio::test]
async fn what_writes_does_not_run_with_a_key_that_it_does_not_know() {
    for (arguments, key) in [
        (
            r#"{"guest":"Ida","nights":2,"options":{"dry_run":true}}"#,
            "options",
        ),
        (
            r#"{"guest":"Ida","nights":2,"at":{"view":"sea","only_if_free":true}}"#,
            "at.only_if_free",
        ),
        (r#"{guest: 'Ida', nights: 2, simulate: true}"#, "simulate"),
    ] {
        let reason = format!("{key}: left out, since the schema does not know it");
        let (outcome, told) = call(Effects::Writes, arguments).await;
        assert!(told.contains(&reason), "{arguments}: {told}");
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(receipt.attempts.is_empty(), "{arguments}");
        // A tool that reads drops it.
        let (outcome, told) = call(Effects::Reads, arguments).await;
        assert!(told.starts_with("booked"), "{arguments}: {told}");
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(receipt.repairs.any(ChangeKind::DroppedKey), "{arguments}");
    }
    for arguments in [
        r#"{"guest":"Ida","nights":2,"options":null}"#,
        r#"{"guest":"Ida","nights":2,"options":{},"note":""}"#,
        // Another spelling of a known key.
        r#"{"Guest":"Ida","NIGHTS":2}"#,
    ] {
        let (_, told) = call(Effects::Writes, arguments).await;
        assert!(told.starts_with("booked"), "{arguments}: {told}");
    }
}

/// Payment whose type ignores keys that it does not have.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Payment {
    to: String,
    cents: u32,
    dry_run: Option<bool>,
}

/// Runs a call of a tool that pays; returns what it was called with, if it ran.
async fn pay(spec: ToolSpec, arguments: &str) -> Option<String> {
    struct Pay(ToolSpec, Arc<Mutex<Option<String>>>);
    impl tool::Tool for Pay {
        type Args = Payment;
        type Ok = String;
        type Err = Infallible;
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        async fn call(&self, args: Payment, _: &tool::ToolContext) -> Result<String, Infallible> {
            let Payment { to, cents, dry_run } = args;
            let paid = format!("{to} {cents} {dry_run:?}");
            *self.1.lock().unwrap() = Some(paid.clone());
            Ok(paid)
        }
    }
    let paid: Arc<Mutex<Option<String>>> = Arc::default();
    let script = [Script::call("pay", arguments), Script::text("done")];
    let agent = scripted_agent("clerk", script)
        .tool(Pay(spec, paid.clone()))
        .build();
    agent.run("Pay.").await.unwrap();
    paid.lock().unwrap().clone()
}

/// A type that ignores unknown keys is no reason to pay.
#[tokio::test]
async fn a_type_that_ignores_keys_does_not_settle_the_doubt() {
    let spec = || ToolSpec::of::<Payment>("pay", "Pays.", Effects::Writes);
    let dropped = || spec().unknown_keys(tool::UnknownKeys::Dropped);
    let arguments = r#"{"to":"A","cents":5,"options":{"dry_run":true}}"#;
    assert_eq!(pay(spec(), arguments).await, None);
    assert_eq!(pay(dropped(), arguments).await.as_deref(), Some("A 5 None"));
    assert_eq!(
        pay(spec().strict(), arguments).await.as_deref(),
        Some("A 5 None")
    );
    // The key is known in another spelling.
    let restyled = r#"{"to":"A","cents":5,"dryRun":true}"#;
    assert_eq!(
        pay(spec(), restyled).await.as_deref(),
        Some("A 5 Some(true)")
    );
}
