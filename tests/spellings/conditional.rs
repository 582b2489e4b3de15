//! Code under a `#[cfg]` that is not fulfilled is left out: none of it would compile.

use agents::{prelude::*, tool};

tool! {
    /// Reads.
    #[tool(reads)]
    async fn read_file() -> Result<String, String> {
        Err("no".to_owned())
    }

    on_error {
        #[cfg(any())]
        invalid_args(_, _) => nowhere(),
        #[cfg(any())]
        execution_error(Returned(_)) => retry(max_attempts = nowhere()).or(fix(agent = Nowhere)),
        #[allow(unused_variables)]
        execution_error(Returned(e)) => retry(max_attempts = 2),
        | execution_error(_) => feedback("later"),
    }
}

tool! {
    /// Writes.
    #[tool(writes)]
    async fn write_file() -> Result<String, String> {
        Err("no".to_owned())
    }
}

/// Reads files.
struct Clerk;

#[agent(prompt = "You read.", tools = [ReadFile, WriteFile])]
impl Clerk {
    /// Answers elsewhere.
    #[cfg(any())]
    #[skill(when = |_| nowhere())]
    async fn elsewhere(&self, request: String) -> String;

    /// Fails elsewhere.
    #[cfg(any())]
    #[skill(when = |_| true)]
    fn fail(&self, request: String) -> nowhere::Result<String> {
        nowhere(request)
    }

    /// Answers.
    #[skill]
    async fn answer(&self, request: String) -> String;

    /// Repeats.
    #[cfg(true)]
    #[skill(when = |request| request.is_empty())]
    fn repeat(&self, request: String) -> String {
        request
    }

    /// Value that nobody knows.
    #[cfg(any())]
    #[knowledge]
    fn unknown(&self) -> Nowhere {
        nowhere()
    }

    #[cfg(any())]
    on_error!(match error {
        execution_error(_) => nowhere(),
    });
    #[cfg(not(any()))]
    on_error!(match error {
        #[cfg(any())]
        execution_error(Panicked(_)) => retry(),
        execution_error(_) => feedback("later"),
    });

    #[cfg(any())]
    on_escalation!(nowhere());
    #[cfg(not(any()))]
    on_escalation!(inherit());
}

/// Skill of which one form is there.
struct Either;

#[agent(prompt = "You answer.")]
impl Either {
    /// Answers.
    #[cfg(any())]
    #[skill]
    async fn answer(&self, request: String) -> String;

    /// Answers.
    #[cfg(not(any()))]
    #[skill]
    async fn answer(&self, request: String) -> String;
}

pub(super) fn main() {
    let _ = (Clerk, Either);
}
