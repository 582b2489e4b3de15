mod mail {
    #[derive(Clone, Debug)]
    pub struct SendEmail;
}

use mail::SendEmail;

/// Sends an email.
#[agents::tool(writes)]
async fn send_email(
    /// Who gets it.
    to: String,
) -> String {
    to
}

fn main() {}
