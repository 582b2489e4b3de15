//! Repair agents that give up, end the run or are cut off: receipts tell only known facts of a call.

use crate::world::{Plain, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Effects, Error, Outcome, console,
    prelude::*,
    recovery::*,
    run::{Approval, ApprovalRequest, Stopped, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::{self, FnTool, ToolSpec},
};
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

tool! {
    /// Points the telescope.
    #[tool(reads)]
    async fn point(
        /// Degrees above the horizon.
        altitude: u32,
    ) -> u32 { altitude }
}

/// Observable results of a run.
struct Seen {
    outcome: Outcome<String>,
    lines: Vec<String>,
    model: ScriptedModel,
}

impl Seen {
    fn receipt(&self, tool: &str) -> &ToolEnvelope {
        let mut receipts = self.outcome.outputs.receipts();
        receipts.find(|receipt| receipt.name == tool).unwrap()
    }

    fn repairs(&self) -> String {
        self.receipt("point").repairs.to_string()
    }

    fn has_line(&self, line: &str) -> bool {
        let mut lines = self.lines.iter();
        lines.any(|seen| seen.starts_with(line))
    }
}

/// Runs a call of `point` with unreadable arguments, with this decision of the arm and this cancellation.
async fn seen(
    decide: impl Fn() -> Decision<InvalidArgs> + Send + Sync + 'static,
    cancel: CancellationToken,
) -> Seen {
    let (model, handle) =
        ScriptedModel::new([Script::call("point", "due north"), Script::text("so be it")]);
    let watcher = AgentBuilder::<String, String>::new("watcher")
        .tool(Point)
        .on_error(move |error, _| match error {
            CallError::InvalidArgs(..) => Some(decide().into()),
            _ => None,
        })
        .model(model)
        .build();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let run = watcher.run("What is up?").cancel(cancel);
    let run = run.on_event(move |event| sink.lock().unwrap().extend(console::line(event, false)));
    let outcome = run.outcome().await.unwrap();
    let lines = std::mem::take(&mut *lines.lock().unwrap());
    Seen {
        outcome,
        lines,
        model: handle,
    }
}

async fn mended_by<F: Fixer + Clone>(fixer: F, tries: u32) -> Seen {
    let decide = move || fix_with(fixer.clone()).retries(tries);
    seen(decide, CancellationToken::new()).await
}

fn mender(script: Vec<Script>) -> AgentBuilder<'static, Repair, String> {
    AgentBuilder::new("mender").model(scripted_model(script))
}

fn shared(mender: AgentBuilder<'static, Repair, String>) -> Arc<Plain<Repair>> {
    Arc::new(mender.build())
}

#[tokio::test]
async fn a_way_out_that_was_taken_took_effect() {
    let escalate = ("escalate", r#"{"reason":"a poem","severity":"LOW"}"#);
    let throw = ("throw_exception", r#"{"reason":"sabotage"}"#);
    for ((name, arguments), did) in [(escalate, r#""handed up""#), (throw, r#""thrown""#)] {
        let mender = mender(vec![Script::call(name, arguments)]);
        let seen = mended_by(shared(mender), 1).await;
        let receipt = seen.receipt(name);
        assert_eq!(receipt.error, None);
        assert_eq!(receipt.output.as_ref().unwrap().as_str(), did);
        assert_eq!(receipt.attempts.len(), 1);
        // No call of the run has succeeded.
        assert_eq!(seen.outcome.outputs.last_tool, None);
        assert_eq!(receipt.attempts[0].error, None);
        assert!(
            seen.has_line(&format!("✓ {name} {arguments} → {did}")),
            "{:?}",
            seen.lines
        );
    }
}

#[tokio::test]
async fn of_two_ways_out_at_once_the_first_is_taken() {
    let both = Script::calls([
        ("escalate", r#"{"reason":"a poem","severity":"LOW"}"#),
        ("throw_exception", r#"{"reason":"sabotage"}"#),
    ]);
    let seen = mended_by(shared(mender(vec![both])), 1).await;
    assert_eq!(seen.outcome.result.as_deref().unwrap(), "so be it");
    assert!(seen.receipt("escalate").is_ok());
    let error = seen.receipt("throw_exception").error.as_ref().unwrap();
    assert_eq!(error.message, "the repair had ended before");
}

/// Throws.
#[agent]
fn thrower(repair: Repair) -> Result<String, Error> {
    Err(Error::thrown(format!("pirates, {}", repair.raw)))
}

/// Asks an agent that throws.
#[agent]
async fn asker(repair: Repair) -> Result<String, Error> {
    Thrower.run(repair).await
}

/// Asks an agent that throws, in a separate run.
#[agent]
async fn apart(repair: Repair) -> Result<String, Error> {
    Thrower.run(repair).outcome().await?.result
}

#[tokio::test]
async fn a_repair_agent_of_code_that_throws_is_on_the_receipt() {
    let cases = [
        ("thrower", mended_by(Thrower, 1).await),
        ("asker", mended_by(Asker, 1).await),
        ("apart", mended_by(Apart, 1).await),
    ];
    for (name, seen) in cases {
        let reason = "pirates, due north";
        let error = seen.receipt("point").error.as_ref().unwrap();
        assert_eq!(error.reason.as_deref(), Some(reason), "{name}");
        assert_eq!(seen.repairs(), format!("`{name}` ended the run: {reason}"));
        assert!(seen.has_line(&format!("! {name}: thrown: {reason}")));
        let (source, reason) = (name.to_owned(), reason.to_owned());
        assert_eq!(
            seen.outcome.stopped,
            Some(Stopped::Thrown { source, reason })
        );
        assert_eq!(seen.model.count(), 1);
    }
}

const ENDED: &str = "the run ended before this call did";

#[tokio::test]
async fn a_tool_of_a_repair_agent_that_throws_ends_the_repair_as_well() {
    let schema = json!({"type": "object"});
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
        Err::<(), _>(Error::thrown("fog"))
    });
    let mender = mender(vec![Script::call("look", "{}")]).tool(look);
    let seen = mended_by(shared(mender), 1).await;
    assert_eq!(
        seen.repairs(),
        "`mender` was asked, and cut off before it answered"
    );
    let error = seen.receipt("look").error.as_ref().unwrap();
    assert_eq!(error.reason.as_deref(), Some("fog"));
}

/// Sleeps on it.
#[agent]
async fn sleeper(repair: Repair) -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    repair.raw
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_in_a_repair_says_who_was_at_work() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let seen = seen(|| fix_with(Sleeper), token).await;
    assert_eq!(seen.outcome.stopped, Some(Stopped::Cancelled));
    assert_eq!(
        seen.repairs(),
        "`sleeper` was asked, and cut off before it answered"
    );
    let error = seen.receipt("point").error.as_ref().unwrap();
    assert!(
        error.message.contains("cannot be read"),
        "{}",
        error.message
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_before_anybody_has_approved_says_so() {
    let spec = ToolSpec::new(
        "open",
        "Opens the dome.",
        Effects::Writes,
        json!({"type": "object"}),
    );
    let open = FnTool::with_spec(spec.approval(tool::NeedsApproval::Always), |_, _| async {
        Ok::<_, String>("open")
    });
    let keeper = scripted_agent("keeper", [Script::call("open", "{}")])
        .tool(open)
        .build();
    let nobody = |_: ApprovalRequest| std::future::pending::<Approval>();
    let token = CancellationToken::new();
    let cancel = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let run = keeper.run("Open it").approver(nobody).cancel(token);
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.attempts.is_empty());
    assert_eq!(
        receipt.error.as_ref().unwrap().message,
        format!("{ENDED}: it waited for approval, which was still open")
    );
}

#[tokio::test]
async fn what_failed_already_is_shown_as_the_try_that_it_was() {
    let same = || Script::text("up there");
    let seen = mended_by(shared(mender(vec![same(), same()])), 2).await;
    let line = "! point up there → VALIDATION_ERROR: `mender` tried `up there` in vain for 15 tokens: this text failed \
        before";
    assert!(seen.has_line(line), "{:?}", seen.lines);
}

/// Gives another invalid text at each attempt.
#[agent]
fn talker(repair: Repair) -> String {
    "again ".repeat(repair.attempt as usize)
}

const EIGHT: &str = "8 repairs were tried, and there may not be more of them";

#[tokio::test]
async fn that_there_may_be_no_more_repairs_is_said() {
    let seen = mended_by(Talker, 20).await;
    let receipt = seen.receipt("point");
    assert_eq!(receipt.repairs.len(), 8);
    assert_eq!(receipt.error.as_ref().unwrap().remark(), Some(EIGHT));
    let last = seen.model.requests()[1].last().to_owned();
    assert!(last.ends_with(&format!("; {EIGHT}")), "{last}");
    assert!(
        seen.lines
            .iter()
            .any(|line| line.starts_with("✗ point ") && line.contains(EIGHT))
    );

    // Eight attempts were all that the plan had, so none was left out.
    let seen = mended_by(Talker, 8).await;
    let receipt = seen.receipt("point");
    assert_eq!(
        (
            receipt.repairs.len(),
            receipt.error.as_ref().unwrap().remark()
        ),
        (8, None)
    );
}

#[tokio::test]
async fn of_an_answer_it_is_said_to_its_model() {
    let (model, handle) = ScriptedModel::new([Script::text("many"), Script::text("7")]);
    let counter = AgentBuilder::<String, u32>::new("counter")
        .model(model)
        .on_error(|error, _| match error {
            CallError::InvalidOutput(..) => {
                Some(fix_with::<InvalidOutput>(Talker).retries(20).into())
            }
            _ => None,
        })
        .build();
    assert_eq!(counter.run("How many moons?").await.unwrap(), 7);
    let last = handle.requests()[1].last().to_owned();
    assert!(last.contains(EIGHT), "{last}");
}
