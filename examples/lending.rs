//! The program of the tutorial's second chapter, whole: a tool with a typed failure, and what to do about each.
//!
//! `cargo run --example lending`

use agents::{
    Code,
    console::print_line,
    prelude::*,
    testing::{Script, ScriptedModel},
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Why a book cannot be lent.
#[derive(Clone, Debug, PartialEq)]
enum CannotLend {
    /// The catalogue does not answer at the moment.
    Busy,
    /// All copies are out.
    AllOut { back_in_days: u32 },
    /// The catalogue has it, the shelf has not.
    Lost,
}

impl fmt::Display for CannotLend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotLend::Busy => write!(f, "the catalogue is busy"),
            CannotLend::AllOut { back_in_days } => {
                write!(f, "all copies are out, one is back in {back_in_days} days")
            }
            CannotLend::Lost => write!(f, "it is not where it should be"),
        }
    }
}

impl ToolFailure for CannotLend {
    fn code(&self) -> Code {
        match self {
            CannotLend::Busy => Code::ProviderError,
            CannotLend::AllOut { .. } | CannotLend::Lost => Code::Unknown,
        }
    }
}

/// The books, and what goes wrong with each, once.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<BTreeMap<&'static str, CannotLend>>>);

impl Shelf {
    fn with_trouble(trouble: impl IntoIterator<Item = (&'static str, CannotLend)>) -> Self {
        Shelf(Arc::new(Mutex::new(trouble.into_iter().collect())))
    }

    fn take(&self, title: &str) -> Result<(), CannotLend> {
        let mut trouble = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.remove(title).map_or(Ok(()), Err)
    }
}

tool! {
    /// Lend a book to a reader.
    #[tool(writes, idempotent)]
    async fn lend(
        /// The book's title.
        title: String,
        /// Who takes it home.
        reader: String,
        #[inject] shelf: Shelf,
    ) -> Result<String, CannotLend> {
        shelf.take(&title)?;
        Ok(format!("{reader} has {title}"))
    }

    on_error {
        execution_error(Returned(why)) => match why {
            CannotLend::Busy                    => retry(max_attempts = 3, backoff = exponential()),
            CannotLend::AllOut { back_in_days } => feedback(format!("offer to keep a copy in {back_in_days} days")),
            CannotLend::Lost                    => escalate("a book is not on its shelf", severity = Medium),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("the catalogue is out of order"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents::recovery::{CallError, Decision, ErrorContext, Execution, Failure, feedback};

    #[tokio::test]
    async fn the_tool_is_a_function() {
        let lent = lend("Emma".into(), "Ada".into(), Shelf::default()).await;
        assert_eq!(lent, Ok("Ada has Emma".to_owned()));
    }

    #[test]
    fn its_arms_are_asked_without_a_run() {
        let shelf = Shelf::default();
        let out = CannotLend::AllOut { back_in_days: 4 };
        let error = CallError::Execution(Failure::Returned(&out));
        let plan = Lend { shelf }.on_error(error, &ErrorContext::new("lend"));
        let expected: Decision<Execution> = feedback("offer to keep a copy in 4 days");
        assert_eq!(plan, Some(expected.into()));
    }
}

struct Clerk {
    shelf: Shelf,
}

#[agent(prompt = "You lend books.", tools = [Lend { shelf: self.shelf.clone() }])]
impl Clerk {
    /// Lends a book.
    #[skill]
    async fn serve(&self, wish: String) -> String;
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let shelf = Shelf::with_trouble([
        ("Emma", CannotLend::Busy),
        ("Persuasion", CannotLend::AllOut { back_in_days: 4 }),
        ("Sanditon", CannotLend::Lost),
    ]);
    // With a server: let model = ollama("qwen3:4b");
    let (model, _) = ScriptedModel::new([
        Script::call("lend", r#"{"title": "Emma", "reader": "Ada",}"#),
        Script::call("lend", r#"{"title": "Persuasion", "reader": "Ada"}"#),
        Script::call("lend", r#"{"title": "Sanditon", "reader": "Ada"}"#),
        Script::text("Here is Emma; Persuasion comes in four days."),
    ]);
    let clerk = Clerk { shelf };
    let run = clerk
        .run("Emma, Persuasion and Sanditon, for Ada")
        .model(model)
        .on_event(print_line);
    println!("= {}", run.await?);
    Ok(())
}
