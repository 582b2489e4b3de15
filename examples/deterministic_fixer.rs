//! A repair agent that is a plain function: no model, no cost, the interface of any other agent.
//!
//! `cargo run --example deterministic_fixer`
//!
//! No server is asked: a scripted model says what `main` gives it.

use agents::{
    Severity,
    console::print_line,
    prelude::*,
    recovery::strip_fences,
    testing::{Script, ScriptedModel},
};

/// Repairs JSON by string surgery.
// It has a body and takes a `String`, so it is given the text that failed and nothing else.
#[agent]
fn string_fixer(broken: String) -> Result<String, Error> {
    if broken.contains("BEGIN PGP MESSAGE") {
        // A repair agent may give up as well, with a reason.
        return Err(Error::escalated(
            "this is encrypted, not malformed",
            Severity::Medium,
        ));
    }
    Ok(mended(&broken))
}

/// Without a fence, with double quotes, without commas before a closing bracket.
fn mended(raw: &str) -> String {
    let text = strip_fences(raw).replace('\'', "\"");
    let mut parts = text.split(',').peekable();
    let mut json = String::new();
    while let Some(part) = parts.next() {
        json.push_str(part);
        if parts
            .peek()
            .is_some_and(|next| !next.trim_start().starts_with(['}', ']']))
        {
            json.push(',');
        }
    }
    json
}

tool! {
    /// Save a contact.
    // Reading would mend all of this by itself; `strict` leaves it to the arms.
    #[tool(writes, strict)]
    async fn save_contact(
        /// Whose.
        name: String,
        /// All the numbers.
        phones: Vec<String>,
    ) -> String {
        format!("{name}: {}", phones.join(", "))
    }

    on_error {
        invalid_args(_, _) => fix(agent = StringFixer, retries = 1),
    }
}

/// You keep an address book.
#[agent(tools = [SaveContact])]
async fn address_book(request: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model makes the mistakes; the repair agent is a function.");
    // It is still the function that was written.
    println!("{}", mended("{'name': 'Ada', 'phones': ['1', '2',],}"));

    let (model, handle) = ScriptedModel::new([
        Script::call(
            "save_contact",
            "```json\n{'name': 'Ada', 'phones': ['12 34', '56 78',],}\n```",
        ),
        Script::call("save_contact", "-----BEGIN PGP MESSAGE-----"),
        Script::text("Ada is in the book. The other entry is encrypted."),
    ]);
    let outcome = AddressBook
        .run("Save these two.")
        .model(model)
        .on_event(print_line)
        .outcome()
        .await?;
    println!("= {}", outcome.result?);
    println!(
        "The model was asked {} times, and never to repair anything.",
        handle.count()
    );
    Ok(())
}
