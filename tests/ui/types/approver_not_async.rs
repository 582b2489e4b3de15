use agents::{prelude::*, run::Approval};

/// You pay.
#[agent]
async fn payer(bill: String) -> String;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _ = Payer.run("all").approver(|_| Approval::Approve).await;
    let _ = Payer.run("all").approver(|_| true).await;
    let _ = Payer.run("all").approver("yes").await;
}
