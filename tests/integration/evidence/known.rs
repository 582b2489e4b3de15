use super::{FindOrders, ReadMail, Repay};
use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Outcome,
    evidence::Giver,
    journal::MemoryJournal,
    recovery::{CallError, Deserialization, fix},
    run::{Approval, ApprovalRequest, ToolEnvelope},
    team::Member,
    testing::{Script, ScriptedModel},
    tool,
};
use std::sync::{Arc, Mutex};

fn clerk() -> Plain {
    AgentBuilder::<String, String>::new("clerk")
        .tool(FindOrders)
        .tool(ReadMail)
        .tool(Repay)
        .build()
}

async fn run(
    task: &str,
    script: impl IntoIterator<Item = Script>,
) -> (Outcome<String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    (
        clerk().run(task).model(model).outcome().await.unwrap(),
        handle,
    )
}

fn repay(order: &str, cents: u32) -> Script {
    Script::call(
        "repay",
        format!(r#"{{"order": "{order}", "cents": {cents}}}"#),
    )
}

fn find() -> Script {
    Script::call("find_orders", r#"{"customer": "Ada"}"#)
}

fn done() -> Script {
    Script::text("done")
}

fn receipt<'o>(outcome: &'o Outcome<String>, tool: &str) -> &'o ToolEnvelope {
    outcome
        .outputs
        .receipts()
        .filter(|one| one.name == tool)
        .last()
        .unwrap()
}

fn origins(receipt: &ToolEnvelope) -> Vec<String> {
    receipt.known.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn values_that_the_user_named_are_taken() {
    let (outcome, _) = run(
        "Repay 42 cents of order A-17, please.",
        [repay("A-17", 42), done()],
    )
    .await;
    let receipt = receipt(&outcome, "repay");
    assert!(receipt.is_ok(), "{:?}", receipt.error);
    assert_eq!(
        origins(receipt),
        [r#""A-17" from the user"#, "42 from the user"]
    );
}

/// The approver, the receipt and the tool see the value as the user wrote it, and the change is told.
#[tokio::test]
async fn a_value_in_another_spelling_is_replaced_before_anybody_is_asked() {
    for (task, written) in [
        ("Repay 42 cents of Ada-K.", "ADA-\u{212a}"),
        ("Repay 42 cents of order a-17.", "A-17"),
        ("Repay 42 cents of New Box.", "new\\nbox"),
        ("Repay 42 cents of ab 12.", "AB 12"),
    ] {
        let said = task.trim_end_matches('.').rsplit_once("of ").unwrap().1;
        let said = said.trim_start_matches("order ");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let (model, _) = ScriptedModel::new([repay(written, 42), done()]);
        let clerk = clerk();
        let outcome = clerk
            .run(task)
            .model(model)
            .policy(agents::policy::confirm_writes())
            .approver(move |request: ApprovalRequest| {
                seen.lock()
                    .unwrap()
                    .push((request.args, request.repairs.to_string()));
                async { Approval::Approve }
            })
            .outcome()
            .await
            .unwrap();
        let receipt = receipt(&outcome, "repay");
        let given = receipt.input.to_value().unwrap();
        assert_eq!(given["order"], said);
        assert_eq!(
            origins(receipt)[0],
            format!("{given} from the user", given = given["order"])
        );
        assert_eq!(
            receipt.output.as_ref().unwrap().to::<String>().unwrap(),
            format!("42 cents for {said}")
        );
        let told = receipt.repairs.to_string();
        assert!(
            told.contains("order: ") && told.contains("as the user or a tool spells it"),
            "{told}"
        );
        let [(args, repairs)] = &asked.lock().unwrap()[..] else {
            panic!("asked once");
        };
        assert_eq!((args, repairs), (&receipt.input, &told));
    }
}

/// Two fields with the same text: only the known one is spelled as the user has it.
#[tokio::test]
async fn other_fields_keep_their_spelling() {
    /// Greets somebody.
    #[tool(writes, idempotent)]
    async fn greet(
        /// Words of the greeting.
        words: String,
        /// Name of the person.
        name: agents::evidence::Known<String, agents::evidence::User>,
        /// Further names.
        others: Vec<agents::evidence::Known<String, agents::evidence::User>>,
    ) -> String {
        format!("{words} {name} {others:?}")
    }
    let arguments = r#"{"words": "ADA", "others": ["BOB", "ADA"], "name": "ADA"}"#;
    let (model, _) = ScriptedModel::new([Script::call("greet", arguments), done()]);
    let agent = AgentBuilder::<String, String>::new("host")
        .tool(Greet)
        .build();
    let outcome = agent
        .run("Greet Ada and bob")
        .model(model)
        .outcome()
        .await
        .unwrap();
    let receipt = receipt(&outcome, "greet");
    assert_eq!(
        receipt.input.as_str(),
        r#"{"words": "ADA", "others": ["bob", "Ada"], "name": "Ada"}"#
    );
    assert_eq!(
        receipt.output.as_ref().unwrap().to::<String>().unwrap(),
        r#"ADA Ada ["bob", "Ada"]"#
    );
}

/// A strict tool changes nothing: the model has to write the value as it was given.
#[tokio::test]
async fn a_strict_tool_wants_the_spelling_of_the_evidence() {
    let (model, handle) = ScriptedModel::new([repay("A-17", 42), repay("a-17", 42), done()]);
    let clerk = clerk();
    let run = clerk.run("Repay 42 cents of a-17").model(model).strict();
    let outcome = run.outcome().await.unwrap();
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.contains(r#"`order`: "A-17" is not known in this spelling: write "a-17""#),
        "{told}"
    );
    assert!(receipt(&outcome, "repay").is_ok());
}

/// A type with spellings of its own keeps them.
#[tokio::test]
async fn an_enum_keeps_its_own_spelling() {
    /// Unit of a temperature.
    #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    enum Unit {
        Celsius,
        Kelvin,
    }
    /// Measures.
    #[tool(writes, idempotent)]
    async fn measure(
        /// The unit.
        unit: agents::evidence::Known<Unit, agents::evidence::User>,
    ) -> String {
        format!("{unit:?}")
    }
    let (model, handle) = ScriptedModel::new([
        Script::call("measure", r#"{"unit": "Kelvin"}"#),
        Script::call("measure", r#"{"unit": "Celsius"}"#),
        done(),
    ]);
    let agent = AgentBuilder::<String, String>::new("lab")
        .tool(Measure)
        .build();
    let outcome = agent
        .run("Measure in celsius")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert!(
        handle.requests()[1]
            .last()
            .contains("is not known in this run")
    );
    assert_eq!(
        receipt(&outcome, "measure").input.as_str(),
        r#"{"unit": "Celsius"}"#
    );
}

/// Spellings that differ in case alone may be two values: the model has to say which one.
#[tokio::test]
async fn of_several_spellings_the_model_chooses_one() {
    let script = [repay("AB-1", 1), repay("ab-1", 1), done()];
    let (outcome, handle) = run("Repay 1 cent of Ab-1 or ab-1", script).await;
    let told = handle.requests()[1].last().to_owned();
    assert!(told.contains(r#"write "Ab-1" or "ab-1""#), "{told}");
    assert!(receipt(&outcome, "repay").is_ok());
}

/// Two words of the user vouch for no value that is written as one.
#[tokio::test]
async fn no_account_is_made_of_two_words() {
    for (task, order, cents) in [
        ("Pay DE1234567890 4200", "DE12345678904200", 4200),
        ("Move 4200 from 10002000 30004000", "1000200030004000", 4200),
        ("please pay me back 4200", "paymeback4200", 4200),
        ("4200 for Anna Bella", "annabella", 4200),
        ("Pay A-17, 4 200 cents", "A-17", 200),
        ("On 2026-11-28 pay A-17", "A-17", 2026),
        ("At 12:30 pay A-17", "A-17", 30),
        ("Pay A-17 42e2 cents", "A-17", 42),
    ] {
        let (outcome, _) = run(task, [repay(order, cents), done()]).await;
        assert!(!receipt(&outcome, "repay").is_ok(), "{task}");
    }
    let (outcome, _) = run("Pay A-17, 4 200 cents", [repay("A-17", 4200), done()]).await;
    assert!(receipt(&outcome, "repay").is_ok());
}

#[tokio::test]
async fn an_invented_value_is_refused_and_the_model_told_where_to_look() {
    let script = [repay("A-99", 4200), find(), repay("A-17", 4200), done()];
    let (outcome, handle) = run("Repay Ada's order.", script).await;
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.contains(
            r#"`order`: "A-99" is not known in this run: take a value from the words of the user or the output of `find_orders`"#
        ),
        "{told}"
    );
    let receipt = receipt(&outcome, "repay");
    assert_eq!(
        origins(receipt),
        [
            r#""A-17" from the output of `find_orders`"#,
            "4200 from the output of `find_orders`"
        ]
    );
    let found = outcome
        .outputs
        .receipts()
        .find(|one| one.name == "find_orders")
        .unwrap();
    let Giver::Tool { call_id, .. } = &receipt.known[0].giver else {
        panic!("a tool has given it");
    };
    assert_eq!(call_id.as_ref(), Some(&found.call_id));
    assert!(!receipt.known[0].in_text);
}

#[tokio::test]
async fn a_value_within_a_text_is_marked() {
    let (outcome, _) = run("Repay Ada 900", [find(), repay("B-1234", 900), done()]).await;
    let receipt = receipt(&outcome, "repay");
    assert!(receipt.known[0].in_text, "{:?}", receipt.known);
    assert_eq!(
        origins(receipt)[0],
        r#""B-1234" from a text in the output of `find_orders`"#
    );
}

#[tokio::test]
async fn other_tools_and_failed_calls_give_nothing() {
    for script in [
        [
            Script::call("read_mail", r#"{"number": 1}"#),
            repay("E-66", 1),
            done(),
        ],
        [
            Script::call("find_orders", r#"{"customer": "E-66"}"#),
            repay("E-66", 1),
            done(),
        ],
        [
            Script::call("nothing", r#"{"customer": "E-66"}"#),
            repay("E-66", 1),
            done(),
        ],
    ] {
        let (outcome, _) = run("Repay 1 cent", script).await;
        assert!(!receipt(&outcome, "repay").is_ok());
    }
}

/// A model writes the task of a delegate: the user has said what the run was asked for, and no more.
#[tokio::test]
async fn the_task_of_a_delegate_is_not_the_word_of_the_user() {
    let office = |task: &str, order: &str| {
        let (model, _) = ScriptedModel::new([
            Script::call("clerk", format!(r#"{{"input": "{task}"}}"#)),
            repay(order, 1),
            done(),
            done(),
        ]);
        let lead = AgentBuilder::<String, String>::new("lead").build();
        let office = Member::new(lead).delegate(clerk()).build();
        async move {
            office
                .run("Repay 1 cent of A-17")
                .model(model)
                .outcome()
                .await
                .unwrap()
        }
    };
    let outcome = office("Repay E-66", "E-66").await;
    assert!(!receipt(&outcome, "repay").is_ok());
    let outcome = office("Repay it", "A-17").await;
    assert!(receipt(&outcome, "repay").is_ok());
}

#[tokio::test]
async fn earlier_messages_of_a_conversation_count() {
    let (model, _) = ScriptedModel::new([
        Script::text("Really?"),
        repay("A-17", 42),
        done(),
        // From a tool's output of an earlier message.
        find(),
        done(),
        repay("A-18", 900),
        done(),
        // The model's own words, and the texts that it was told about them, give nothing.
        repay("E-66", 1),
        Script::text("E-66, 1"),
        repay("E-66", 1),
        done(),
    ]);
    let clerk = clerk();
    let mut chat = clerk.chat().model(model);
    chat.send("Repay 42 cents of A-17").await.unwrap();
    let outcome = chat.send("Yes").outcome().await.unwrap();
    assert!(receipt(&outcome, "repay").is_ok());
    chat.send("What else has she ordered?").await.unwrap();
    let outcome = chat.send("Repay that too").outcome().await.unwrap();
    let second = receipt(&outcome, "repay");
    assert_eq!(
        origins(second)[0],
        r#""A-18" from the output of `find_orders`"#
    );
    let Giver::Tool { call_id: None, .. } = second.known[0].giver else {
        panic!("the call belongs to an earlier message: {:?}", second.known);
    };
    chat.send("And another one").await.unwrap();
    let outcome = chat.send("Go on").outcome().await.unwrap();
    assert!(!receipt(&outcome, "repay").is_ok());
}

#[tokio::test]
async fn an_approver_sees_the_origins_and_may_give_other_values() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let asked = seen.clone();
    let (model, _) = ScriptedModel::new([repay("A-17", 42), done()]);
    let clerk = clerk();
    let outcome = clerk
        .run("Repay 42 cents of A-17")
        .model(model)
        .policy(agents::policy::confirm_writes())
        .approver(move |request: ApprovalRequest| {
            asked.lock().unwrap().extend(request.known);
            let args = serde_json::json!({"order": "Q-1", "cents": 1});
            async move { Approval::approve_with(args) }
        })
        .outcome()
        .await
        .unwrap();
    let receipt = receipt(&outcome, "repay");
    assert!(receipt.is_ok(), "{:?}", receipt.error);
    assert_eq!(
        origins(receipt),
        ["1 from the approver", r#""Q-1" from the approver"#]
    );
    let seen: Vec<_> = seen
        .lock()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(seen, [r#""A-17" from the user"#, "42 from the user"]);
}

/// An arm and a repair agent may help, but they are held to the same evidence.
#[tokio::test]
async fn repaired_arguments_are_checked_as_well() {
    for (repaired, ok) in [("A-17", true), ("E-66", false)] {
        let (model, _) = ScriptedModel::new([repay("A17", 42), done()]);
        let clerk = AgentBuilder::<String, String>::new("clerk")
            .tool(Repay)
            .on_error(move |error, _| match error {
                CallError::Deserialization(..) => Some(
                    fix::<Deserialization>(format!(r#"{{"order": "{repaired}", "cents": 42}}"#))
                        .into(),
                ),
                _ => None,
            })
            .build();
        let run = clerk.run("Repay 42 cents of A-17").model(model);
        let outcome = run.outcome().await.unwrap();
        assert_eq!(receipt(&outcome, "repay").is_ok(), ok, "{repaired}");
    }
}

#[tokio::test]
async fn a_run_that_goes_on_knows_what_it_knew() {
    let clerk = clerk();
    let script = || [find(), repay("A-17", 4200), done()];
    let whole = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let run = clerk.run("Repay Ada's order").model(model);
    run.journal(whole.clone()).await.unwrap();
    for at in crate::world::put_down(&whole) {
        let (model, _) = ScriptedModel::new(script().into_iter().skip(at.replies()));
        let run = clerk.run("Repay Ada's order").model(model);
        let outcome = run.journal(at.journal()).outcome().await.unwrap();
        let receipt = receipt(&outcome, "repay");
        assert!(receipt.is_ok(), "{:?}", receipt.error);
        assert_eq!(receipt.known.len(), 2);
    }
}

/// A run that a tool's body starts takes its input from that code.
#[tokio::test]
async fn code_vouches_for_the_input_of_the_run_that_it_starts() {
    /// Repays through another agent.
    #[tool(writes)]
    async fn ask_clerk(
        /// Number of the order.
        order: String,
    ) -> Result<String, agents::Error> {
        let (model, _) = ScriptedModel::new([repay(&order, 5), Script::text("repaid")]);
        let task = format!("Repay 5 cents of {order}");
        let clerk = clerk();
        let outcome = clerk.run(task).model(model).scope("acme").outcome().await?;
        assert!(receipt(&outcome, "repay").is_ok());
        outcome.result
    }
    let (model, handle) =
        ScriptedModel::new([Script::call("ask_clerk", r#"{"order": "A-17"}"#), done()]);
    let boss = AgentBuilder::<String, String>::new("boss")
        .tool(AskClerk)
        .model(model)
        .build();
    boss.run("go").await.unwrap();
    assert_eq!(handle.requests()[1].last(), "repaid");
}

#[test]
fn nothing_is_known_outside_of_a_run() {
    use agents::evidence::{Known, User};
    let error = serde_json::from_str::<Known<String, User>>("\"A-17\"").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("nothing is known outside of one"),
        "{error}"
    );
    let known: Known<String, User> = Known::vouch("A-17".to_owned());
    assert_eq!(serde_json::to_string(&known).unwrap(), "\"A-17\"");
    assert_eq!(
        (format!("{known} {known:?}"), known.clone()),
        ("A-17 \"A-17\"".to_owned(), known)
    );
}
