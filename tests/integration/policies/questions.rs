//! Questions of agents to people.

use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Effects, Outcome,
    agent::Progress,
    console,
    evidence::{Known, User},
    journal::MemoryJournal,
    policy,
    run::{Approval, ApprovalReason, ApprovalRequest, hours},
    testing::{Script, ScriptedModel},
    tool::{self, Ask, FnTool, ToolSpec},
};
use serde::{Deserialize, Serialize};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Seat in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
enum Seat {
    Window,
    Aisle,
}

fn asks() -> Script {
    Script::call("ask_user", r#"{"question": "Where do you want to sit?"}"#)
}

fn made(ask: Ask<Seat>) -> Plain {
    AgentBuilder::<String, String>::new("clerk")
        .tool(ask)
        .build()
}

/// Runs a clerk that asks once, with an approver that gives this decision.
async fn decided(ask: Ask<Seat>, approval: Approval) -> (Outcome<String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new([asks(), Script::text("done")]);
    let user = move |_: ApprovalRequest| {
        let approval = approval.clone();
        async move { approval }
    };
    let clerk = made(ask);
    let run = clerk.run("A flight.").model(model).approver(user);
    (run.outcome().await.unwrap(), handle)
}

/// Returns what the model was told about its only call.
fn told(model: &ScriptedModel) -> String {
    let requests = model.requests();
    let results = requests.last().unwrap().results();
    results[0].1.to_owned()
}

#[tokio::test]
async fn the_user_is_asked_and_the_answer_is_the_output() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (model, handle) = ScriptedModel::new([asks(), Script::text("done")]);
    let user = {
        let seen = seen.clone();
        move |request: ApprovalRequest| {
            seen.lock().unwrap().push(request);
            async { Approval::answer(Seat::Window).by("ada") }
        }
    };
    let clerk = made(Ask::to_user().within(hours(1)).default(Seat::Aisle));
    let outcome = clerk.run("A flight.").model(model).approver(user).outcome();
    let outcome = outcome.await.unwrap();
    assert_eq!(told(&handle), "Window");
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""Window""#);
    assert!(receipt.is_answer);
    assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("ada"));
    let line = console::receipt(receipt, false);
    assert!(line.contains("answered by ada after "), "{line}");

    let seen = seen.lock().unwrap();
    let [request] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!(request.reasons, [ApprovalReason::Question]);
    assert_eq!(request.effects, Effects::Reads);
    let question = request.question.as_ref().unwrap();
    assert_eq!(question.text, "Where do you want to sit?");
    assert_eq!(question.form.choices(), ["Window", "Aisle"]);
    assert_eq!(question.form.within, Some(hours(1)));
    assert_eq!(
        question.form.default.as_ref().unwrap().as_str(),
        r#""Aisle""#
    );
    let shown = request.effect_description.as_deref();
    assert_eq!(shown, Some("Asks the user: Where do you want to sit?"));
}

#[tokio::test]
async fn an_approval_is_no_answer() {
    for approval in [
        Approval::Approve,
        Approval::approve_with(serde_json::json!({"question": "?"})),
    ] {
        let (outcome, model) = decided(Ask::to_user(), approval).await;
        let told = told(&model);
        assert!(told.contains("nobody has answered the question"), "{told}");
        assert!(told.contains("Approval::answer(..)"), "{told}");
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert!(!receipt.is_ok() && !receipt.is_answer);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_no_answer() {
    let (outcome, model) = decided(Ask::to_user(), Approval::answer("Wing")).await;
    let told = told(&model);
    assert!(
        told.contains("the answer does not fit the question"),
        "{told}"
    );
    assert!(told.contains("Window"), "{told}");
    assert!(!outcome.outputs.receipts().next().unwrap().is_ok());
}

#[tokio::test]
async fn a_denial_and_a_revision_are_told_as_what_they_are() {
    let (_, model) = decided(Ask::to_user(), Approval::deny("not now")).await;
    let denied = told(&model);
    assert!(
        denied.contains("nobody has answered the question: not now"),
        "{denied}"
    );
    let revise = Approval::Revise {
        note: "say for which flight".into(),
    };
    let (_, model) = decided(Ask::to_user(), revise).await;
    let revised = told(&model);
    let asked = "say for which flight; change the question and ask again";
    assert!(revised.contains(asked), "{revised}");
}

#[tokio::test]
async fn an_answer_to_a_call_that_asks_nothing_is_a_denial() {
    let schema = serde_json::json!({"type": "object"});
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema);
    let spec = spec.approval(tool::NeedsApproval::Always);
    let pay = FnTool::with_spec(spec, |_, _| async { Ok::<_, std::io::Error>("paid") });
    let (model, handle) = ScriptedModel::new([Script::call("pay", "{}"), Script::text("done")]);
    let payer = AgentBuilder::<String, String>::new("payer")
        .tool(pay)
        .build();
    let user = |_: ApprovalRequest| async { Approval::answer(true) };
    payer.run("Pay.").model(model).approver(user).await.unwrap();
    let told = told(&handle);
    assert!(told.contains("the call asks no question"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_in_time_the_default_counts_and_the_model_knows_it() {
    let ask = || Ask::to_user().within(Duration::from_secs(60));
    let nobody = |_: ApprovalRequest| std::future::pending::<Approval>();
    let (model, handle) = ScriptedModel::new([asks(), Script::text("done")]);
    let clerk = made(ask().default(Seat::Aisle));
    let run = clerk.run("A flight.");
    let outcome = run.model(model).approver(nobody).outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_ok() && !receipt.is_answer);
    let told_of_default = told(&handle);
    assert!(told_of_default.starts_with("Aisle"), "{told_of_default}");
    assert!(
        told_of_default.contains("not the user's word"),
        "{told_of_default}"
    );

    let (model, handle) = ScriptedModel::new([asks(), Script::text("done")]);
    let clerk = made(ask());
    let run = clerk.run("A flight.");
    run.model(model).approver(nobody).await.unwrap();
    let told = told(&handle);
    assert!(told.contains("the time to answer is over"), "{told}");
}

#[tokio::test]
async fn without_an_approver_the_default_counts() {
    let (model, handle) = ScriptedModel::new([asks(), Script::text("done")]);
    let clerk = made(Ask::to_user().default(Seat::Aisle));
    clerk.run("A flight.").model(model).await.unwrap();
    assert!(told(&handle).starts_with("Aisle"), "{}", told(&handle));
}

#[tokio::test]
async fn a_question_outlives_its_process() {
    let journal = MemoryJournal::new();
    let clerk = made(Ask::to_user());
    let (model, _) = ScriptedModel::new([asks()]);
    let run = clerk.run("A flight.").model(model).journal(journal.clone());
    let Progress::Waiting(requests) = run.until_waiting().await.unwrap() else {
        panic!("nobody has answered")
    };
    let question = requests[0].question.clone().unwrap();
    assert_eq!(question.form.choices(), ["Window", "Aisle"]);

    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    let user = move |request: ApprovalRequest| {
        assert_eq!(request.question.as_ref(), Some(&question));
        async { Approval::answer(Seat::Aisle) }
    };
    let run = clerk.run("A flight.").model(model).journal(journal.clone());
    assert_eq!(run.approver(user).await.unwrap(), "done");
    assert_eq!(told(&handle), "Aisle");

    // The answer is in the journal: nobody is asked again, and no model either.
    let (model, _) = ScriptedModel::new([]);
    let run = clerk.run("A flight.").model(model).journal(journal);
    assert_eq!(run.await.unwrap(), "done");
}

#[tokio::test]
async fn policies_hold_for_questions() {
    let (model, handle) = ScriptedModel::new([asks(), Script::text("done")]);
    let user = |_: ApprovalRequest| async { Approval::answer(Seat::Window) };
    let clerk = made(Ask::to_user());
    let run = clerk.run("A flight.").model(model);
    run.policy(policy::deny_tools("ask_user"))
        .approver(user)
        .await
        .unwrap();
    assert!(told(&handle).starts_with("ERROR"), "{}", told(&handle));
}

/// Books the seat of a passenger.
#[agents::tool(writes, idempotent)]
async fn book(
    /// Passport number.
    passport: Known<String, (User,)>,
) -> String {
    format!("booked for {passport}")
}

#[tokio::test]
async fn an_answer_is_a_word_of_the_user_and_a_default_is_not() {
    let script = || {
        [
            Script::call("ask_user", r#"{"question": "Your passport number?"}"#),
            Script::call("book", r#"{"passport": "C01X00T47"}"#),
            Script::text("done"),
        ]
    };
    let agent = |ask: Ask<String>| {
        AgentBuilder::<String, String>::new("clerk")
            .tool(ask)
            .tool(Book)
            .build()
    };
    let user = |_: ApprovalRequest| async { Approval::answer("It is C01X00T47.") };
    let (model, _) = ScriptedModel::new(script());
    let clerk = agent(Ask::to_user());
    let run = clerk.run("A flight.").model(model).approver(user);
    let outcome = run.outcome().await.unwrap();
    let booked = outcome.outputs.receipts().last().unwrap();
    assert!(booked.is_ok(), "{:?}", booked.error);
    assert_eq!(booked.known[0].to_string(), r#""C01X00T47" from the user"#);

    let (model, _) = ScriptedModel::new(script());
    let agent = agent(Ask::to_user().default("C01X00T47".to_owned()));
    let outcome = agent.run("A flight.").model(model).outcome().await.unwrap();
    let booked = outcome.outputs.receipts().last().unwrap();
    assert!(!booked.is_ok(), "nobody has said this number");
}
