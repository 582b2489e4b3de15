//! The program of the tutorial, whole: a tool with a typed failure and arms, a repair agent after a
//! function, and a team of two in which a failure climbs to whoever can judge it.
//!
//! `cargo run --example shelf`
//!
//! No server is asked: one scripted model plays all agents, a line of the script for each turn. With
//! `ollama("qwen3:4b")` in its place the program is live.

use agents::{
    Code,
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Why a book cannot be lent.
#[derive(Clone, Debug)]
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
        invalid_args(raw, _) => fix(from_slip(raw)).or(fix(agent = SlipReader, retries = 2)),
        execution_error(Returned(why)) => match why {
            CannotLend::Busy                    => retry(max_attempts = 3, backoff = exponential()),
            CannotLend::AllOut { back_in_days } => feedback(format!("offer to keep a copy in {back_in_days} days")),
            CannotLend::Lost                    => escalate("a book is not on its shelf", severity = Medium),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("the catalogue is out of order"),
    }
}

/// `Emma -> Ada`, as it stands on the slips of this library.
fn from_slip(raw: &str) -> Option<String> {
    let (title, reader) = raw.split_once(" -> ")?;
    Some(serde_json::json!({ "title": title, "reader": reader }).to_string())
}

/// You read slips of paper. Answer with the JSON that was meant, and nothing else.
#[agent(budget(max_turns = 2))]
async fn slip_reader(request: Repair) -> String;

struct Clerk {
    shelf: Shelf,
}

#[agent(prompt = "You lend books.", tools = [Lend { shelf: self.shelf.clone() }])]
impl Clerk {
    /// Lends a book.
    #[skill]
    async fn serve(&self, wish: String) -> String;
}

struct Librarian {
    stronger: ScriptedModel, // With a server: `agents::Ollama`.
}

#[agent(prompt = "You run a library. Your clerk lends the books.")]
impl Librarian {
    /// Sees to a reader's wish.
    #[skill(when = |_: &String| true)]
    async fn attend(&self, wish: String) -> String;

    /// Asks another library.
    #[skill]
    fn order_elsewhere(&self, wish: String) -> String {
        format!("ordered from the next town: {wish}")
    }

    on_escalation!(match escalation.severity {
        Low => retry_with_model(self.stronger.clone()),
        Medium => reroute_to_skill(Self::order_elsewhere),
        High | Critical => return_partial_result(format!("not today: {}", escalation.reason)),
    });
}

async fn ask(
    team: &impl Agent<In = String, Out = String>,
    wish: &str,
    script: Vec<Script>,
) -> Result<(), Error> {
    let (model, _) = ScriptedModel::new(script); // With a server: ollama("qwen3:4b").
    println!("? {wish}");
    let run = team.run(wish).model(model).on_event(print_line);
    let outcome = run.outcome().await?;
    for climb in &outcome.escalations {
        let given_up = &climb.escalation;
        println!(
            "{} gave up; asked: {}",
            given_up.source,
            given_up.path.join(", ")
        );
    }
    println!("= {}\n", outcome.result?);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let shelf = Shelf::with_trouble([
        ("Emma", CannotLend::Busy),
        ("Persuasion", CannotLend::AllOut { back_in_days: 4 }),
        ("Sanditon", CannotLend::Lost),
    ]);
    let stronger = ScriptedModel::new([]).0; // With a server: ollama("llama3:70b").
    let team = structure!(Librarian { stronger }.delegates(Clerk { shelf }.grants([Lend])));
    println!("{}", team.render());

    let to_clerk = |wish: &str| Script::call("clerk", format!(r#"{{"input": "{wish}"}}"#));

    ask(
        &team,
        "Emma, for Ada",
        vec![
            to_clerk("Emma, for Ada"),
            Script::call("lend", "Emma -> Ada"),
            Script::text("Ada has Emma."),
            Script::text("Here is Emma, Ada."),
        ],
    )
    .await?;
    ask(
        &team,
        "Persuasion, for Ada",
        vec![
            to_clerk("Persuasion, for Ada"),
            Script::call("lend", "Ada wants Persuasion"),
            Script::text("She does."), // The repair agent, twice.
            Script::text(r#"{"title": "Persuasion", "reader": "Ada"}"#),
            Script::text("I can keep a copy for her."),
            Script::text("In four days, Ada."),
        ],
    )
    .await?;
    ask(
        &team,
        "Sanditon, for Ada",
        vec![
            to_clerk("Sanditon, for Ada"),
            Script::call("lend", r#"{"title": "Sanditon", "reader": "Ada"}"#),
        ],
    )
    .await
}
