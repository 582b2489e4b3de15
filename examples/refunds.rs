//! The second program of the front page: a team, a call that a person approves, and a failure that climbs.
//!
//! `cargo run --example refunds`

use agents::testing::{Script, ScriptedModel};
use agents::{console::print_line, prelude::*, run::Approval};

tool! {
    /// Refund an order.
    #[tool(writes, external)]
    async fn refund(
        /// Amount in cents.
        cents: u32,
    ) -> Result<String, &'static str> {
        match cents {
            0..5_000 => Ok(format!("{cents} cents are refunded")),
            _ => Err("the bank asks for a signature"),
        }
    }

    on_error {
        execution_error(Returned(why)) => escalate(*why, severity = Medium),
    }
}

/// You refund orders.
#[agent(tools = [Refund])]
async fn cashier(order: String) -> String;

struct Office;

#[agent(prompt = "You answer customers. Your cashier refunds.")]
impl Office {
    /// Answers a letter.
    #[skill]
    async fn answer(&self, letter: String) -> String;

    on_escalation!(match escalation.severity {
        Low | Medium => return_partial_result(format!("Tomorrow: {}.", escalation.reason)),
        High | Critical => inherit(),
    });
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let team = structure!(Office.delegates(Cashier.confirm([Refund])));
    print!("{}", team.render());

    let (model, _) = ScriptedModel::new([
        Script::call("cashier", r#"{"order": "A-17, 90 euros"}"#),
        Script::call("refund", r#"{"cents": 9000}"#),
    ]);
    let run = team.run("I sent A-17 back.").model(model);
    // `approve::ask_me` asks at the terminal. In a runtime, the run waits for the control room.
    let run = run.approver(|_| async { Approval::Approve.by("Ada") });
    println!("= {}", run.on_event(print_line).await?);
    Ok(())
}
