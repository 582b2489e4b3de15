//! A repair agent that is a plain function: it needs no model, costs nothing, and is used like any other agent.
//!
//! `cargo run --example deterministic_fixer`
//!
//! No server is needed: a scripted model gives the replies listed in `main`.

use agents::{
    Severity,
    console::print_line,
    prelude::*,
    recovery::strip_fences,
    testing::{Script, ScriptedModel},
};

/// Repairs JSON by editing the text.
// An agent with a body needs no model. Since its input is a `String`, it gets only the text that failed.
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

/// Removes a fence and commas before closing brackets, and makes quotes double.
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
    // The reader could repair all of this itself; `strict` leaves the repair to the arms.
    #[tool(writes, strict)]
    async fn save_contact(
        /// Name of the person.
        name: String,
        /// Phone numbers of the person.
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
    // The repair function can also be called directly.
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
