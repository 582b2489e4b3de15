//! Compositions can be interrupted and resumed.

use super::*;
use crate::world::{put_down, same, scripted_agent};

/// Creates an agent whose model answers by the request alone, however often it is asked.
fn echo(name: &'static str, runs: &Arc<AtomicU32>) -> Plain {
    let script: Vec<_> = (0..20)
        .map(|_| {
            let runs = runs.clone();
            Script::with(move |asked| {
                runs.fetch_add(1, SeqCst);
                let usage = Usage {
                    input_tokens: 1,
                    output_tokens: 1,
                    requests: 1,
                    ..Usage::default()
                };
                let content = format!("{name}({})", asked.last());
                agents::model::Reply {
                    content,
                    usage,
                    ..Default::default()
                }
            })
        })
        .collect();
    scripted_agent(name, script)
        .budget(Budget::new().max_turns(1))
        .build()
}

/// Two agents of one name at the same input, one that fails, a loop and a discussion.
fn composite(
    runs: &Arc<AtomicU32>,
    failures: &Arc<AtomicU32>,
) -> impl Agent<In = String, Out = String> {
    let counted = failures.clone();
    let broken: Plain = native("broken", move |_| {
        let nth = counted.fetch_add(1, SeqCst);
        async move { Err(Error::new(ErrorKind::Failed, format!("failure {nth}"))) }
    });
    let voters = settled((echo("voter", runs), echo("voter", runs), broken))
        .map(|voted| format!("{voted:?}"));
    let refined = echo("refine", runs).until(|text| {
        if text.len() > 60 {
            Done(text)
        } else {
            Again(text)
        }
    });
    let captain: Plain<Transcript<String>> =
        native("captain", |all: Transcript<String>| async move {
            Ok(all.to_string())
        });
    let discussed = forum((echo("analyst", runs), echo("critic", runs))).captain(captain);
    voters.then(refined).then(
        (
            discussed,
            first_of((endless("never", &Arc::default()), echo("last", runs))),
        )
            .map(join),
    )
}

#[tokio::test]
async fn from_every_entry_a_composite_comes_to_the_same_end() {
    let (runs, failures) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let journal = MemoryJournal::new();
    let agent = composite(&runs, &failures);
    let run = agent.run("go").journal(journal.clone());
    let whole = run.outcome().await.unwrap();
    let requests = runs.load(SeqCst) as usize;
    for at in put_down(&journal) {
        let (again, failed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let agent = composite(&again, &failed);
        let run = agent.run("go").journal(at.journal());
        let resumed = run.outcome().await.unwrap();
        same(&resumed, &whole, &at);
        assert_eq!(
            again.load(SeqCst) as usize,
            requests - at.replies(),
            "nothing is asked twice {at}"
        );
        let has_failed = at.text().contains("failure 0");
        assert_eq!(
            failed.load(SeqCst),
            u32::from(!has_failed),
            "what failed is not asked again {at}"
        );
    }
}

#[tokio::test]
async fn a_composite_s_journal_belongs_to_it_alone() {
    let journal = MemoryJournal::new();
    let pair = (says("a", ["x"]), says("b", ["y"]));
    pair.run("go").journal(journal.clone()).await.unwrap();
    let race = first_of((says("a", ["x"]), says("b", ["y"])));
    for at in put_down(&journal) {
        let error = race.run("go").journal(at.journal()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the journal belongs to a run of agent `(a, b)`, not of `first_of(a, b)`"
        );
    }
}
