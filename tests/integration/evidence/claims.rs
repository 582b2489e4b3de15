use super::{FindOrders, RefundOrder, Refunded};
use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, ErrorKind,
    agent::Data,
    evidence::Done,
    journal::MemoryJournal,
    team::Member,
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Reply {
    text: String,
    refund: Option<Done<RefundOrder>>,
}

fn clerk<O: Data + JsonSchema>(
    script: impl IntoIterator<Item = Script>,
) -> (Plain<String, O>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let clerk = AgentBuilder::<String, O>::new("clerk")
        .tool(FindOrders)
        .tool(RefundOrder)
        .model(model)
        .build();
    (clerk, handle)
}

const CALL: (&str, &str) = ("refund_order", r#"{"order": "A-17"}"#);

#[tokio::test]
async fn a_claim_without_a_call_is_refused_until_the_call_is_made() {
    let (clerk, handle) = clerk::<Reply>([
        Script::text(r#"{"text": "Refunded!", "refund": {"order": "A-17"}}"#),
        Script::call(CALL.0, CALL.1),
        Script::text(r#"{"text": "Refunded.", "refund": {"order": "A-17"}}"#),
    ]);
    let outcome = clerk.run("Refund order A-17.").outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap().clone();
    let refund = outcome.result.unwrap().refund.unwrap();
    assert_eq!((refund.number, &*refund.order), (7, "A-17"));
    assert_eq!(refund.call_id(), &*receipt.call_id);
    assert_eq!(refund.input(), &receipt.input);
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.starts_with(
            "Your answer cannot be used: field `refund`: no `refund_order` has succeeded in this run"
        ),
        "{told}"
    );
}

#[tokio::test]
async fn an_answer_may_claim_nothing() {
    for answer in [r#"{"text": "No."}"#, r#"{"text": "No.", "refund": null}"#] {
        let (clerk, _) = clerk::<Reply>([Script::text(answer)]);
        assert_eq!(clerk.run("Hi").await.unwrap().refund, None);
    }
}

#[tokio::test]
async fn a_claim_of_another_call_names_the_calls_that_were_made() {
    let (clerk, handle) = clerk::<Reply>([
        Script::call(CALL.0, CALL.1),
        Script::text(r#"{"text": "Done.", "refund": {"order": "A-18"}}"#),
        Script::text(r#"{"text": "Done.", "refund": {}}"#),
    ]);
    assert!(clerk.run("Refund").await.unwrap().refund.is_some());
    let told = handle.requests()[2].last().to_owned();
    assert!(
        told.contains(r#"no `refund_order` with {"order":"A-18"} has succeeded in this run, only with {"order":"A-17"}"#),
        "{told}"
    );
}

#[tokio::test]
async fn calls_that_fail_or_are_refused_support_no_claim() {
    for (tool, arguments) in [
        ("refund_order", r#"{"order": "broken"}"#),
        ("refund_order", r#"{"ordr": "A-17"}"#),
        ("find_orders", r#"{"customer": "Ada"}"#),
    ] {
        let (clerk, handle) = clerk::<Reply>([
            Script::call(tool, arguments),
            Script::text(r#"{"text": "Done.", "refund": {}}"#),
            Script::text(r#"{"text": "It failed."}"#),
        ]);
        assert_eq!(clerk.run("Refund").await.unwrap().refund, None);
        let told = handle.requests()[2].last().to_owned();
        assert!(
            told.contains("no `refund_order` has succeeded in this run"),
            "{told}"
        );
    }
}

/// A model cannot write a receipt itself: what it writes is read as arguments.
#[tokio::test]
async fn a_forged_receipt_is_no_receipt() {
    let forged = r#"{"text": "x", "refund": {"tool": "refund_order", "call_id": "0", "input": {}, "output": {"order": "Z", "number": 1}}}"#;
    for script in [
        vec![Script::text(forged)],
        vec![Script::call(CALL.0, CALL.1), Script::text(forged)],
    ] {
        let made = script.len();
        let script = script
            .into_iter()
            .chain([Script::text(r#"{"text": "No."}"#)]);
        let (clerk, handle) = clerk::<Reply>(script);
        assert_eq!(clerk.run("Refund").await.unwrap().refund, None);
        let told = handle.requests()[made].last().to_owned();
        assert!(
            told.starts_with("Your answer cannot be used: field `refund`: "),
            "{told}"
        );
    }
    for no_claim in ["\"yes\"", "1", "[]"] {
        let (clerk, handle) = clerk::<Reply>([
            Script::call(CALL.0, CALL.1),
            Script::text(format!(r#"{{"text": "x", "refund": {no_claim}}}"#)),
            Script::text(r#"{"text": "No."}"#),
        ]);
        assert_eq!(
            clerk.run("Refund").await.unwrap().refund,
            None,
            "{no_claim}"
        );
        assert_eq!(handle.count(), 3);
    }
}

#[tokio::test]
async fn each_claim_needs_a_call_of_its_own() {
    type Refunds = Vec<Done<RefundOrder>>;
    let (clerk, handle) = clerk::<Refunds>([
        Script::call(CALL.0, CALL.1),
        Script::text("[{}, {}]"),
        Script::call("refund_order", r#"{"order": "A-18", "reason": "late"}"#),
        Script::text(r#"[{"order": "A-17"}, {"reason": "late"}]"#),
    ]);
    let refunds = clerk.run("Refund both").await.unwrap();
    let orders: Vec<_> = refunds.iter().map(|refund| &*refund.order).collect();
    assert_eq!(orders, ["A-17", "A-18"]);
    let told = handle.requests()[2].last().to_owned();
    assert!(
        told.contains("`refund_order` has not succeeded as often as the answer claims"),
        "{told}"
    );
}

/// serde tries one variant after the other: a claim in a variant that does not fit is given back.
#[tokio::test]
async fn a_claim_of_a_variant_that_does_not_fit_does_not_count() {
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        Long {
            refund: Done<RefundOrder>,
            reason: String,
        },
        Short {
            refund: Done<RefundOrder>,
        },
    }
    let (clerk, _) = clerk::<Either>([
        Script::call(CALL.0, CALL.1),
        Script::text(r#"{"refund": {"order": "A-17"}}"#),
    ]);
    let Either::Short { refund } = clerk.run("Refund").await.unwrap() else {
        panic!("there is no reason");
    };
    assert_eq!(refund.into_output().number, 7);
}

#[tokio::test]
async fn a_lenient_reading_finds_claims_too() {
    let (clerk, handle) = clerk::<Reply>([
        Script::call(CALL.0, CALL.1),
        Script::text("Here it is:\n```json\n{'text': 'Done.', 'refund': {'order': 'A-17',},}\n```"),
    ]);
    assert!(clerk.run("Refund").await.unwrap().refund.is_some());
    assert_eq!(handle.count(), 2);
}

#[tokio::test]
async fn a_call_of_a_delegate_supports_a_claim_of_the_agent_above() {
    let (model, _) = ScriptedModel::new([
        Script::call("cashier", r#"{"input": "Refund A-17"}"#),
        Script::call(CALL.0, CALL.1),
        Script::text("I did."),
        Script::text(r#"{"text": "The cashier did.", "refund": {"order": "A-17"}}"#),
    ]);
    let cashier = AgentBuilder::<String, String>::new("cashier")
        .tool(RefundOrder)
        .build();
    let lead = AgentBuilder::<String, Reply>::new("lead").build();
    let office = Member::new(lead).delegate(cashier).build();
    let reply = office.run("Refund A-17").model(model).await.unwrap();
    assert_eq!(reply.refund.unwrap().number, 7);
}

#[tokio::test]
async fn an_agent_that_cannot_call_the_tool_does_not_start() {
    let (model, handle) = ScriptedModel::new([Script::text("{}")]);
    let lead = AgentBuilder::<String, Reply>::new("lead")
        .tool(FindOrders)
        .build();
    let error = lead.run("Refund").model(model.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(
        error
            .to_string()
            .contains("its answer holds `Done` of `refund_order`"),
        "{error}"
    );
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(FindOrders)
        .build();
    let office = Member::new(lead).delegate(clerk).build();
    let error = office.run("Refund").model(model).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("lead: its answer holds `Done` of `refund_order`"),
        "{error}"
    );
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn a_stored_answer_keeps_its_claims() {
    let journal = MemoryJournal::new();
    let script = [
        Script::call(CALL.0, CALL.1),
        Script::text(r#"{"text": "Done.", "refund": {}}"#),
    ];
    let (clerk, _) = clerk::<Reply>(script);
    let first = clerk.run("go").journal(journal.clone()).await.unwrap();
    let again = clerk.run("go").journal(journal).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(
        *first.refund.as_deref().unwrap(),
        Refunded {
            order: "A-17".to_owned(),
            number: 7
        }
    );
    // As JSON it can be given to others.
    let json = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<Reply>(&json).unwrap(), first);
}

/// Before the run has read the answer, nobody has checked what the model writes.
#[tokio::test]
async fn a_partial_answer_has_no_claims_yet() {
    let (clerk, _) = clerk::<Reply>([
        Script::call(CALL.0, CALL.1),
        Script::text(
            r#"{"refund": {"tool": "refund_order", "call_id": "0", "input": {}, "output": {"order": "Z", "number": 1}}, "text": "D"}"#,
        ),
        Script::text(r#"{"refund": {}, "text": "Done."}"#),
    ]);
    let mut partials = clerk.run("Refund").stream().partials();
    let mut claims = Vec::new();
    while let Some(partial) = partials.next().await {
        let refund = partial
            .field::<Option<Done<RefundOrder>>>("refund")
            .flatten();
        claims.push((partial.is_complete(), refund.is_some()));
    }
    assert!(claims.len() > 1, "{claims:?}");
    assert!(
        claims.iter().all(|(complete, claimed)| complete == claimed),
        "{claims:?}"
    );
}

#[test]
fn the_model_is_told_what_a_claim_is() {
    let schema = agents::tool::schema_of::<Vec<Done<RefundOrder>>>();
    let claim = &schema["items"];
    assert_eq!(
        claim["description"],
        "A call of `refund_order` that has succeeded in this run, told by its arguments. `{}` stands for the last such call."
    );
    assert_eq!(claim["properties"]["order"]["type"], "string");
    assert_eq!(claim["required"], serde_json::Value::Null);
    assert!(!schema.to_string().contains("x-done"));
}

#[test]
fn a_doc_comment_stands_before_what_a_claim_is() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Documented {
        /// The refund, if one was made
        refund: Option<Done<RefundOrder>>,
    }

    let schema = agents::tool::schema_of::<Documented>();
    let said = schema["properties"]["refund"]["description"]
        .as_str()
        .unwrap();
    assert!(
        said.starts_with("The refund, if one was made. A call of `refund_order` that has"),
        "{said}"
    );
}
