//! Reading of a journal before its run goes on.

use super::{Settings, Writer, wording};
use crate::{
    Error, ErrorKind, Json,
    journal::{Entry, Journal, JournalError, refold},
    secret::{references, resolve_reference},
};
use futures_util::future::BoxFuture;
use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

/// Journal that a run was given, with the code that reads and writes its facts.
///
/// The code is generic over the type of the journal. rustc compiles generic code where the type is named: a program that
/// gives no run a journal compiles none of it.
pub(crate) struct GivenJournal(Box<Open>);

type Open = dyn for<'s> Fn(&'s Settings) -> BoxFuture<'s, Opened> + Send + Sync;
type Opened = Result<Arc<Writer>, Error>;

impl GivenJournal {
    pub(crate) fn new<J: Journal>(journal: J) -> Self {
        let journal = Arc::new(journal);
        GivenJournal(Box::new(move |settings| {
            Box::pin(open(journal.clone(), settings))
        }))
    }

    /// Reads the journal of a run, and returns the writer for the run's next facts.
    pub(crate) fn open<'s>(&self, settings: &'s Settings) -> BoxFuture<'s, Opened> {
        (self.0)(settings)
    }
}

async fn open<J: Journal>(journal: Arc<J>, settings: &Settings) -> Opened {
    let mut entries = journal.read().await.map_err(unreadable)?;
    restore(&mut entries, settings).await?;
    let (seq, stored) = refold(&entries, &settings.masker, |state, fact, position| {
        position.fold(state, fact)
    })
    .map_err(unreadable)?;
    for run in &stored {
        settings.past.add(&run.state);
    }
    Ok(Writer::new(journal, seq, stored, Json::of))
}

/// Replaces references to secrets in stored entries by the secrets' values. A reference to a secret that nobody has any
/// more stays: a call that needs the secret fails.
async fn restore(entries: &mut [Entry], settings: &Settings) -> Result<(), Error> {
    if let Some(keeper) = &settings.secret_store {
        let needed = entries.iter().flat_map(|entry| references(entry.fact()));
        let needed: BTreeSet<_> = needed.collect();
        for reference in needed {
            let found = resolve_reference(&**keeper, &settings.scope, &reference).await;
            let learnt = found.and_then(|found| match found {
                Some(value) => settings.masker.learn_as(reference, &value),
                None => Ok(()),
            });
            learnt.map_err(|error| Error::new(ErrorKind::Build, error.to_string()))?;
        }
    }
    for entry in entries {
        if let Cow::Owned(text) = settings.masker.restored(entry.fact.as_str()) {
            entry.fact = Json::parse(text).map_err(|error| {
                let why = wording::entry_unreadable(entry.seq, &error);
                unreadable(JournalError::new(why))
            })?;
        }
    }
    Ok(())
}

fn unreadable(error: JournalError) -> Error {
    Error::new(ErrorKind::Journal, error.to_string()).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Agent, AgentBuilder, Effects,
        journal::MemoryJournal,
        testing::{Script, ScriptedModel},
        tool::FnTool,
    };
    use serde_json::json;

    /// Returns the output of the first call in a stored run, as a process with these settings reads it.
    async fn output(entries: &[Entry], settings: &Settings) -> Json {
        let journal = GivenJournal::new(MemoryJournal::of(entries.to_vec()));
        let writer = journal.open(settings).await.unwrap();
        let stored = writer.stored().unwrap();
        let frames = stored.state.places.iter().flat_map(|place| &place.frame);
        let call = frames.flat_map(|frame| &frame.calls).next();
        call.unwrap().result().unwrap().clone().unwrap()
    }

    #[tokio::test]
    async fn an_output_is_exact_again_where_its_secret_is_known() {
        let schema = json!({"type": "object"});
        let log_in = FnTool::new("log_in", "Logs in.", Effects::Reads, schema, |_, _| async {
            Ok::<_, std::io::Error>("session hunter/22")
        });
        let (model, _) = ScriptedModel::new([Script::call("log_in", "{}"), Script::text("done")]);
        let agent = AgentBuilder::<String, String>::new("clerk").tool(log_in);
        let agent = agent.model(model).build();
        let journal = MemoryJournal::new();
        let run = agent.run("go").secret("crm", "hunter/22".to_owned());
        run.journal(journal.clone()).await.unwrap();
        let entries = journal.entries();
        let ended = entries.iter().position(|entry| entry.kind() == "ended");
        let entries = &entries[..=ended.unwrap()];
        assert!(!entries.iter().any(|entry| entry.fact().contains("hunter")));

        let mut settings = Settings::default();
        let stored = output(entries, &settings).await;
        assert!(
            references(stored.as_str())
                .iter()
                .any(|it| it.name == "crm"),
            "{stored}"
        );
        settings
            .secrets
            .insert("crm".to_owned(), "hunter/22".to_owned().into());
        settings.hide().unwrap();
        let exact = output(entries, &settings).await;
        assert_eq!(exact.as_str(), r#""session hunter/22""#);
    }
}
