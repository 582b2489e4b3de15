//! Stored journals in `tests/fixtures/journals`, which later versions have to read and resume.
//!
//! These files are never rewritten. A new format adds new files, and its readers still read the old ones. [`make`]
//! writes files of the present format:
//!
//! ```console
//! $ cargo test --test integration earlier_versions::make -- --ignored
//! ```
//!
//! Existing files are kept.

use crate::world::{Plain, scripted_model, spec_with_n};
use agents::{
    Agent, AgentBuilder, Effects, Outcome,
    escalation::{self, Escalation},
    journal::{Entry, FileJournal, Key, Recorded, recorded},
    recovery::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval as Asks},
};
use proptest::{prelude::*, sample::Index, test_runner::TestRunner};
use serde_json::{Value, json};
use std::{
    env, fs,
    future::pending,
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// The key of the journals that have one.
const KEY: &[u8; 32] = b"the key of the frozen journals..";

/// A finished run, without a key.
const FINISHED: &str = "1_finished.jsonl";

/// A finished run with a key; it has an approval, two repairs, an escalation and a separate run inside.
const EVENTFUL: &str = "1_eventful.jsonl";

/// A run with a key that breaks off during the call of a tool that writes.
const BROKEN_OFF: &str = "1_broken_off.jsonl";

fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures/journals").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap()
}

/// A copy of a frozen journal that a test may change; it is deleted at the end.
struct Copy(PathBuf);

impl Copy {
    fn of(bytes: &[u8]) -> Copy {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, SeqCst);
        let name = format!("agents-frozen-{}-{nth}.jsonl", std::process::id());
        let path = env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Copy(path)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Creates an agent that makes one call of a tool that reads.
fn looker() -> Plain<String, u32> {
    let look = FnTool::with_spec(spec_with_n("look", Effects::Reads), |args, _| async move {
        Ok::<_, io::Error>(args["n"].clone())
    });
    AgentBuilder::new("looker").tool(look).build()
}

/// Creates an agent that pays; if `hangs`, the payment never ends.
fn payer(hangs: bool, paid: &Arc<AtomicU32>) -> Plain {
    let paid = paid.clone();
    let pay = FnTool::with_spec(spec_with_n("pay", Effects::Writes), move |_, _| {
        paid.fetch_add(1, SeqCst);
        async move {
            match hangs {
                true => pending().await,
                false => Ok::<_, io::Error>("paid"),
            }
        }
    });
    AgentBuilder::new("payer").tool(pay).build()
}

/// Creates the agent of the eventful run.
fn lead(colleague: ScriptedModel, spare: ScriptedModel) -> Plain<String, u32> {
    let signed = spec_with_n("sign", Effects::Writes)
        .idempotent()
        .approval(Asks::Always);
    let sign = FnTool::with_spec(signed, |args, _| async move {
        Ok::<_, io::Error>(format!("signed {}", args["n"]))
    });
    let ask = FnTool::with_spec(spec_with_n("ask", Effects::None), move |_, _| {
        let model = colleague.clone();
        async move {
            let colleague = AgentBuilder::<String, String>::new("colleague").model(model);
            colleague.build().run("help").outcome().await?.result
        }
    });
    let fail = FnTool::with_spec(spec_with_n("fail", Effects::Reads), |_, _| async {
        Err::<u32, _>(io::Error::other("it does not move"))
    });
    AgentBuilder::new("lead")
        .tool(sign)
        .tool(ask)
        .tool(fail)
        .on_error(|error, _| match error {
            CallError::InvalidArgs(..) => Some(fix::<InvalidArgs>(r#"{"n":2}"#.to_owned()).into()),
            CallError::Execution(_) => Some(escalate::<Execution>("stuck").into()),
            CallError::InvalidOutput(..) => Some(fix::<InvalidOutput>("7".to_owned()).into()),
            CallError::Deserialization(..) => None,
        })
        .on_escalation(move |_: Escalation| escalation::retry_with_model(spare.clone()))
        .build()
}

/// Writes the missing journals of the present format.
#[tokio::test(start_paused = true)]
#[ignore = "writes files that are kept"]
async fn make() {
    let journal = |name: &str, key: Key| {
        let path = path(name);
        (!path.exists()).then(|| FileJournal::open(path, key).unwrap())
    };
    if let Some(journal) = journal(FINISHED, Key::none()) {
        let script = [Script::call("look", r#"{"n": 7}"#), Script::text("7")];
        let agent = looker();
        let run = agent.run("go").model(scripted_model(script));
        assert_eq!(run.journal(journal).await.unwrap(), 7);
    }
    if let Some(journal) = journal(EVENTFUL, Key::from(KEY)) {
        let script = [
            Script::calls([("sign", r#"{"n": 1}"#), ("sign", "rubbish")]),
            Script::call("ask", r#"{"n": 3}"#),
            Script::call("fail", r#"{"n": 4}"#),
        ];
        let lead = lead(
            scripted_model([Script::text("helped")]),
            scripted_model([Script::text("about seven")]),
        );
        let run = lead.run("go").model(scripted_model(script));
        let run = run.approver(|_: ApprovalRequest| async { Approval::Approve.by("ada") });
        assert_eq!(run.journal(journal).await.unwrap(), 7);
    }
    if let Some(journal) = journal(BROKEN_OFF, Key::from(KEY)) {
        let script = [Script::call("pay", r#"{"n": 5}"#)];
        let agent = payer(true, &Arc::default());
        let run = agent.run("go").model(scripted_model(script));
        let run = run.journal(journal).outcome();
        // Ends before the tool's time limit.
        let a_second = Duration::from_secs(1);
        assert!(tokio::time::timeout(a_second, run).await.is_err());
        // A separate task stores the rest of the run.
        tokio::time::sleep(a_second).await;
    }
}

fn outcome(name: &str, key: Key) -> Outcome<u32> {
    recorded(&text(name), key).unwrap().outcome().unwrap()
}

#[tokio::test]
async fn o11_a_finished_run_of_format_1_is_read() {
    let told = outcome(FINISHED, Key::none());
    assert_eq!(told.result.as_ref().unwrap(), &7);
    assert_eq!((told.partial, &told.stopped), (false, &None));
    let receipts: Vec<_> = told.outputs.receipts().collect();
    let [receipt] = &receipts[..] else {
        panic!("{receipts:?}")
    };
    assert_eq!(receipt.name, "look");
    assert_eq!(receipt.output.as_ref().unwrap().as_str(), "7");

    // The agent gives the same answer without a request.
    let copy = Copy::of(text(FINISHED).as_bytes());
    let journal = FileJournal::open(&copy.0, Key::none()).unwrap();
    let agent = looker();
    let run = agent.run("go").model(scripted_model([]));
    let live = run.journal(journal).outcome().await.unwrap();
    let written = |outcome: &Outcome<u32>| serde_json::to_string(outcome).unwrap();
    assert_eq!(written(&live), written(&told));
    assert_eq!(fs::read_to_string(&copy.0).unwrap(), text(FINISHED));
}

#[tokio::test]
async fn s5_14_an_eventful_run_of_format_1_is_read() {
    let told = outcome(EVENTFUL, Key::from(KEY));
    assert_eq!(told.result.as_ref().unwrap(), &7);
    let receipts: Vec<_> = told.outputs.receipts().collect();
    let of = |receipt: &&agents::run::ToolEnvelope| {
        let output = receipt
            .output
            .as_ref()
            .map(|output| output.as_str().to_owned());
        (receipt.name.to_string(), output)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        receipts.iter().map(of).collect::<Vec<_>>(),
        [
            ("sign".to_owned(), some(r#""signed 1""#)),
            ("sign".to_owned(), some(r#""signed 2""#)),
            ("ask".to_owned(), some(r#""helped""#)),
            ("fail".to_owned(), None),
        ]
    );
    for signed in &receipts[..2] {
        assert_eq!(signed.attempts[0].approved_by.as_deref(), Some("ada"));
    }
    assert!(!receipts[1].repairs.is_empty());
    assert!(!told.repairs.is_empty(), "that of the answer");
    let settled = told.escalations.iter().map(|one| one.settled.to_string());
    let settled: Vec<_> = settled.collect();
    assert_eq!(settled.len(), 1, "{settled:?}");
    assert!(
        settled[0].contains("goes on with `scripted`"),
        "{settled:?}"
    );
    assert_eq!(told.usage.requests, 5);

    let copy = Copy::of(text(EVENTFUL).as_bytes());
    let journal = FileJournal::open(&copy.0, KEY).unwrap();
    let nobody = || scripted_model([]);
    let agent = lead(nobody(), nobody());
    let run = agent.run("go").model(nobody()).journal(journal);
    let live = run.outcome().await.unwrap();
    let written = |outcome: &Outcome<u32>| serde_json::to_string(outcome).unwrap();
    assert_eq!(written(&live), written(&told));
}

#[tokio::test]
async fn a_run_of_format_1_that_breaks_off_goes_on() {
    let stored = recorded(&text(BROKEN_OFF), KEY).unwrap();
    assert_eq!(
        (stored.agent(), stored.outcome::<String>().is_some()),
        ("payer", false)
    );
    assert_eq!(stored.entries().last().map(Entry::kind), Some("begun"));

    let (copy, paid) = (Copy::of(text(BROKEN_OFF).as_bytes()), Arc::default());
    let journal = FileJournal::open(&copy.0, KEY).unwrap();
    assert_eq!(journal.cut(), 0);
    let (model, handle) = ScriptedModel::new([Script::text("I shall ask")]);
    let agent = payer(false, &paid);
    let run = agent.run("go").model(model).journal(journal);
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.result.as_ref().unwrap(), "I shall ask");
    assert_eq!(paid.load(SeqCst), 0, "it may have been paid");
    let told = handle.requests()[0].results()[0].1.to_owned();
    assert!(
        told.contains("whether it took effect is not known"),
        "{told}"
    );

    let told = recorded(&fs::read_to_string(&copy.0).unwrap(), KEY).unwrap();
    let told = told.outcome::<String>().unwrap();
    let written = |outcome: &Outcome<String>| serde_json::to_string(outcome).unwrap();
    assert_eq!(written(&told), written(&outcome));
}

/// Runs a property test with this number of cases.
fn check<S: Strategy>(
    cases: u32,
    strategy: S,
    law: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    };
    TestRunner::new(config).run(&strategy, law).unwrap();
}

/// Returns the number of the line at this position; a line includes its line feed.
fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_changed_byte_is_refused_and_its_line_is_named() {
    let bytes = text(EVENTFUL).into_bytes();
    // Without its line feed, the last line was never committed.
    let positions = 0..bytes.len() - 1;
    check(1000, (positions, 1..=255_u8), |(at, by)| {
        let mut changed = bytes.clone();
        changed[at] ^= by;
        let copy = Copy::of(&changed);
        let said = FileJournal::open(&copy.0, KEY).map_err(|error| error.to_string());
        let said = said.err().unwrap_or_default();
        // A file with another beginning is no journal, and another number is another format.
        let names_it = match line_of(&bytes, at) {
            1 => [
                "line 1 was altered",
                "this is no journal",
                "the journal has format",
            ]
            .iter()
            .any(|what| said.contains(what)),
            line => said.contains(&format!("line {line} was altered")),
        };
        prop_assert!(names_it, "byte {} is {}: {:?}", at, changed[at], said);
        prop_assert_eq!(fs::read(&copy.0).unwrap(), changed, "it is left as it was");
        Ok(())
    });
}

#[test]
fn a_last_line_without_its_end_was_never_committed() {
    let bytes = text(EVENTFUL).into_bytes();
    let whole = recorded(&text(EVENTFUL), KEY).unwrap();
    let copy = Copy::of(&[&bytes[..bytes.len() - 1], b" "].concat());
    let journal = FileJournal::open(&copy.0, KEY).unwrap();
    let left = journal.entries();
    assert!(journal.cut() > 0 && left.len() < whole.entries().len());
    assert_eq!(left, whole.entries()[..left.len()]);
}

#[test]
fn s5_1_no_text_makes_the_reader_panic() {
    let keys = || [Key::none(), Key::from(KEY)];
    check(1000, ".*", |text| {
        for key in keys() {
            prop_assert!(recorded(&text, key).is_err());
        }
        Ok(())
    });
    // Texts that are nearly a journal.
    let frozen = [FINISHED, EVENTFUL, BROKEN_OFF].map(text);
    let part = (
        0..3_usize,
        any::<Index>(),
        any::<Index>(),
        ".{0,20}|\n|\\{\\}|\\[\\]|\"",
    );
    check(1000, part, |(which, from, to, put)| {
        let text = &frozen[which];
        let place = |index: Index| text.floor_char_boundary(index.index(text.len()));
        let (from, to) = (place(from).min(place(to)), place(from).max(place(to)));
        let changed = [&text[..from], &put, &text[to..]].concat();
        for key in keys() {
            let _ = recorded(&changed, key);
        }
        Ok(())
    });
}

/// Facts at any place of any run, in any order, which nobody with the key wrote.
#[test]
fn no_facts_make_the_reader_panic() {
    let frozen = [FINISHED, EVENTFUL, BROKEN_OFF].map(text);
    let keys = [Key::none(), Key::from(KEY), Key::from(KEY)];
    let entries = frozen.iter().zip(keys).flat_map(|(text, key)| {
        let run = recorded(text, key).unwrap();
        run.entries().to_vec()
    });
    let facts = entries.map(|entry| serde_json::from_str(entry.fact()).unwrap());
    let facts: Vec<Value> = facts.collect();
    let number = || prop_oneof![8 => 0..4_u32, 1 => any::<u32>()];
    let one = (number(), number(), any::<Index>());
    let read = AtomicU32::new(0);
    check(2000, prop::collection::vec(one, 1..12), |all| {
        let entry = |(seq, (run, place, which)): (u64, (u32, u32, Index))| {
            json!([seq, 1_700_000_000_000_u64, run, place, which.get(&facts)])
        };
        let started = json!([1, 1_700_000_000_000_u64, 0, 0, facts[0]]);
        let entries = [started].into_iter().chain((2..).zip(all).map(entry));
        // Each entry is read with all entries before it, as far as they are valid.
        let mut follow: Vec<Entry> = Vec::new();
        for entry in entries {
            let mut entry = entry;
            entry[0] = json!(follow.len() + 1);
            let entry: Entry = serde_json::from_value(entry).unwrap();
            let mut next = follow.clone();
            next.push(entry);
            if let Ok(run) = Recorded::of(next.clone()) {
                read.fetch_add(1, SeqCst);
                let _ = (run.outcome::<u32>(), run.messages(), run.receipts());
                follow = next;
            }
        }
        Ok(())
    });
    assert!(read.load(SeqCst) > 2000, "some follow");
}
