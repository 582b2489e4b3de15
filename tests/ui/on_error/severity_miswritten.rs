use agents::{prelude::*, tool};

/// Pays.
#[tool(reads)]
async fn pay() -> std::io::Result<String> {
    Ok(String::new())
}

on_error!(Pay, match error {
    invalid_args(_, _) => escalate("one", severity = Severe),
    deserialization_error(_, _) => escalate("two", severity = Severity::Crticial),
    execution_error(Returned(_)) => escalate("three", severity = high),
    execution_error(TimedOut(_)) => escalate("four").severity(Severity::Fatal),
    execution_error(_) => escalate("five", severity = Hihg),
});

struct Lead;

#[agent(prompt = "You lead.", tools = [Pay])]
impl Lead {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> String;

    on_escalation!(match escalation.severity {
        Severity::Low => inherit(),
        Severity::Midium => inherit(),
        _ => escalate(escalation.reason, severity = Worse),
    });
}

fn main() {}
