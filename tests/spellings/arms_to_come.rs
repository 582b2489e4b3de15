//! Arms that are not written yet, or give their answer by `return`.
#![deny(warnings)]
use agents::prelude::*;

tool! {
    /// Pays.
    #[tool(none)]
    async fn pay() -> std::io::Result<()> {
        Ok(())
    }

    on_error {
        invalid_args(_, _) => todo!(),
        deserialization_error(_, _) => return escalate("not now"),
        execution_error(Returned(_)) => unimplemented!("later"),
    }
}

struct Crew;

#[agent(prompt = "You sail.", tools = [Pay])]
impl Crew {
    /// Sails.
    #[skill]
    async fn sail(&self, question: String) -> String;

    on_escalation!(match escalation.severity {
        Low => todo!(),
        Medium if escalation.reason.is_empty() => reroute_to_skill(Self::sail),
        Medium => return inherit(),
        High => {
            let reason = escalation.reason;
            throw(reason)
        }
        Critical => Some(return_partial_result("aground".to_owned())),
    });
}

pub(super) fn main() {
    let _ = Crew;
}
