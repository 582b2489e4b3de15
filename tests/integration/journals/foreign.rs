//! Journals that belong to another run or were altered: they are refused before any request or execution.

use crate::world::{PutDown, agent_with, put_down, same, spec, worker};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, ErrorKind,
    journal::{Entry, MemoryJournal},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::{Value, json};

/// Returns the journal of a run of the worker with one call.
async fn written() -> MemoryJournal {
    let journal = MemoryJournal::new();
    let call = Script::call("add", r#"{"left":1,"right":2}"#);
    let (model, _) = ScriptedModel::new([call, Script::text("3")]);
    let agent = worker::<u32>();
    let run = agent.run("go").model(model).journal(journal.clone());
    assert_eq!(run.await.unwrap(), 3);
    journal
}

/// Runs an agent with a journal, and checks that it is refused without a request; returns the error.
async fn refused(agent: &impl Agent<In = String>, input: &str, journal: MemoryJournal) -> String {
    let (model, handle) = ScriptedModel::new([]);
    let before = journal.entries();
    let run = agent.run(input).model(model).journal(journal.clone());
    let error: Error = run.outcome().await.map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal, "{error}");
    assert_eq!(handle.count(), 0);
    assert_eq!(journal.entries(), before, "it is left as it was");
    error.to_string()
}

/// Changes a journal's entries, and returns the error with which the worker refuses it.
async fn changed(change: impl FnOnce(&mut Vec<Value>)) -> String {
    let written = written().await.entries();
    let values = written.iter().map(serde_json::to_value);
    let mut values: Vec<_> = values.collect::<Result<_, _>>().unwrap();
    change(&mut values);
    let entries = values.into_iter().map(serde_json::from_value::<Entry>);
    let entries = entries.collect::<Result<_, _>>().unwrap();
    refused(&worker::<u32>(), "go", MemoryJournal::of(entries)).await
}

/// Renumbers the entries in their present order.
fn number(entries: &mut [Value]) {
    for (seq, entry) in (1..).zip(entries) {
        entry[0] = json!(seq);
    }
}

/// Returns the index of the first entry of this kind.
fn at(entries: &[Value], kind: &str) -> usize {
    let is_of = |entry: &Value| {
        let entry: Entry = serde_json::from_value(entry.clone()).unwrap();
        entry.kind() == kind
    };
    entries.iter().position(is_of).unwrap()
}

#[tokio::test]
async fn it_belongs_to_its_agent_and_its_input() {
    let journal = written().await;
    let other = AgentBuilder::<String, u32>::new("other").build();
    for part in put_down(&journal) {
        assert_eq!(
            refused(&other, "go", part.journal()).await,
            "the journal belongs to a run of agent `worker`, not of `other`"
        );
        assert_eq!(
            refused(&worker::<u32>(), "stay", part.journal()).await,
            "the journal belongs to a run with another input"
        );
    }
}

#[tokio::test]
async fn what_a_later_version_has_written_is_not_guessed_at() {
    let why = changed(|entries| entries[0][4]["started"]["rules"] = json!(2)).await;
    assert_eq!(
        why,
        "entry 1 (`started`): the journal follows rules 2; this version knows rules 1, so go on with the version that wrote it"
    );
    let why = changed(|entries| entries[3][4] = json!({ "dreamt": { "of": "sheep" } })).await;
    assert!(
        why.starts_with("entry 4 (`dreamt`) cannot be read: unknown variant `dreamt`"),
        "{why}"
    );
}

#[tokio::test]
async fn entries_that_are_gone_are_missed_wherever_they_were() {
    let count = written().await.entries().len();
    assert!(count > 10);
    for gone in 0..count - 1 {
        let why = changed(|entries| drop(entries.remove(gone))).await;
        let (nth, number) = (gone + 1, gone + 2);
        assert_eq!(
            why,
            format!(
                "entry {nth} has the number {number}: entries are missing, or in another order"
            )
        );
    }
}

#[tokio::test]
async fn entries_in_another_order_are_refused() {
    let count = written().await.entries().len();
    for first in 0..count - 1 {
        let why = changed(|entries| entries.swap(first, first + 1)).await;
        let nth = first + 1;
        let expected = format!("entry {nth} has the number {}", nth + 1);
        assert!(why.starts_with(&expected), "{why}");
    }
}

/// An entry that cannot follow the one before is found, even if the numbers were adjusted.
#[tokio::test]
async fn an_entry_that_does_not_follow_is_named() {
    let why = changed(|entries| {
        let begun = at(entries, "begun");
        let ended = at(entries, "ended");
        entries.swap(begun, ended);
        number(entries);
    })
    .await;
    assert!(
        why.contains("(`begun`) does not follow from those before it"),
        "{why}"
    );
    for (kind, follower) in [
        ("started", "said"),
        ("replied", "taken_up"),
        ("taken_up", "read"),
    ] {
        let why = changed(|entries| {
            let gone = at(entries, kind);
            entries.remove(gone);
            number(entries);
        })
        .await;
        let expected = format!("(`{follower}`) does not follow from those before it");
        assert!(why.contains(&expected), "without `{kind}`: {why}");
    }
}

#[tokio::test]
async fn an_entry_of_no_place_and_of_no_run_is_refused() {
    for (of, number) in [(2, 7), (3, 99)] {
        let why = changed(|entries| entries[4][of] = json!(number)).await;
        assert!(
            why.starts_with("entry 5 (`")
                && why.ends_with("`) does not follow from those before it"),
            "{why}"
        );
    }
}

#[tokio::test]
async fn a_finished_run_is_not_begun_again_however_often_it_is_asked_for() {
    let journal = written().await;
    let whole = PutDown(journal.entries());
    let agent = worker::<u32>();
    for _ in 0..3 {
        let (model, handle) = ScriptedModel::new([]);
        let run = agent.run("go").model(model).journal(journal.clone());
        assert_eq!(run.await.unwrap(), 3);
        assert_eq!(handle.count(), 0);
        assert_eq!(journal.entries(), whole.0);
    }
}

/// Creates an agent whose tool runs another agent in a separate run; also returns both models.
fn boss(asked: usize, told: usize) -> (impl Agent<In = String, Out = String>, [ScriptedModel; 2]) {
    let (model, colleague) = ScriptedModel::new([Script::text("yes")].into_iter().skip(told));
    let ask = FnTool::with_spec(spec("ask", Effects::Reads), move |_, _| {
        let model = model.clone();
        async move {
            let colleague = AgentBuilder::<String, String>::new("colleague").build();
            let run = colleague.run("help").model(model);
            let outcome = run.budget(Budget::new().tokens(1_000)).outcome().await?;
            outcome.result
        }
    });
    let script = [Script::call("ask", "{}"), Script::text("done")];
    let (agent, handle) = agent_with([ask], script.into_iter().skip(asked));
    (agent, [handle, colleague])
}

#[tokio::test]
async fn a_run_of_its_own_within_a_run_is_in_its_journal_and_goes_on_with_it() {
    let journal = MemoryJournal::new();
    let (agent, _) = boss(0, 0);
    let run = agent.run("go").journal(journal.clone());
    let whole = run.outcome().await.unwrap();
    assert_eq!(whole.usage.requests, 3);
    for at in put_down(&journal) {
        let replies = at.0.iter().filter(|entry| entry.kind() == "replied");
        let told = replies.filter(|entry| entry.fact().contains("yes")).count();
        let (agent, handles) = boss(at.replies() - told, told);
        let run = agent.run("go").journal(at.journal());
        let resumed = run.outcome().await.unwrap();
        same(&resumed, &whole, &at);
        let asked = handles.iter().map(ScriptedModel::count).sum::<usize>();
        assert_eq!(asked, 3 - at.replies(), "nobody is asked twice {at}");
    }
}
