//! Damaged journals: they are refused, or the run ends without repeating an execution. With a key, each change is named.

use super::{
    generated_runs::{Case, run},
    panics,
    resumption::told,
    within_a_week,
    world::World,
};
use agents::{
    ErrorKind,
    journal::{Entry, FileJournal, Journal, MemoryJournal, recorded},
};
use proptest::{prelude::*, test_runner::TestCaseError};
use serde_json::{Value, json};
use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    process,
};

/// Number of damages tried on each journal.
const TIMES: usize = 40;

/// A random number generator.
struct Chance(u64);

impl Chance {
    fn of(&mut self, among: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % among.max(1) as u64) as usize
    }
}

/// Kind of damage.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Damage {
    Removed,
    Doubled,
    Swapped,
    Changed,
    Moved,
}

/// A journal as JSON values.
fn values(entries: &[Entry]) -> Vec<Value> {
    let text = serde_json::to_string(entries).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value with this number, in the order of the text.
fn nth<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, at)),
        Value::Object(members) => members.values_mut().find_map(|member| nth(member, at)),
        _ => None,
    }
}

fn change(value: &mut Value, chance: &mut Chance) {
    let other = |chance: &mut Chance| {
        let all = [
            json!(null),
            json!(0),
            json!(1),
            json!(u32::MAX),
            json!(u64::MAX),
            json!(-1),
            json!(""),
            json!("no"),
            json!(true),
            json!({}),
            json!([]),
        ];
        all[chance.of(all.len())].clone()
    };
    *value = match value.take() {
        Value::Number(n) => match chance.of(5) {
            0 => json!(0),
            1 => json!(u32::MAX),
            2 => json!(u64::MAX),
            3 => json!(n.as_u64().unwrap_or_default() + 1),
            _ => other(chance),
        },
        Value::Bool(is) => json!(!is),
        Value::String(text) => match chance.of(4) {
            0 => json!(format!("{text}x")),
            1 => json!(""),
            2 => json!(r#"{"n":"#),
            _ => other(chance),
        },
        Value::Array(mut items) if !items.is_empty() => match chance.of(2) {
            0 => {
                items.pop();
                Value::Array(items)
            }
            _ => {
                items.push(items[0].clone());
                Value::Array(items)
            }
        },
        Value::Object(mut members) if !members.is_empty() => {
            let key = members.keys().nth(chance.of(members.len())).cloned();
            let key = key.unwrap_or_default();
            let member = members.remove(&key).unwrap_or_default();
            if chance.of(2) == 0 {
                let names = ["read", "ended", "settled", "asked", "over", "woke", "done"];
                members.insert(names[chance.of(names.len())].to_owned(), member);
            }
            Value::Object(members)
        }
        _ => other(chance),
    };
}

/// Damages the entry at `at`.
fn damage(entries: &mut Vec<Value>, at: usize, damage: Damage, chance: &mut Chance) {
    match damage {
        Damage::Removed => {
            entries.remove(at);
        }
        Damage::Doubled => entries.insert(at, entries[at].clone()),
        Damage::Swapped => {
            let next = (at + 1) % entries.len();
            entries.swap(at, next);
        }
        Damage::Changed => {
            let fact = &mut entries[at][4];
            let mut nth_value = chance.of(count(fact));
            if let Some(value) = nth(fact, &mut nth_value) {
                change(value, chance);
            }
        }
        Damage::Moved => {
            let field = chance.of(4);
            change(&mut entries[at][field], chance);
        }
    }
}

/// Damages one entry of a journal.
pub(super) fn anyhow(case: &Case, entries: &[Entry]) -> Result<(), TestCaseError> {
    let whole = values(entries);
    let mut chance = Chance(case.seed);
    for _ in 0..TIMES {
        let mut damaged = whole.clone();
        let at = chance.of(damaged.len());
        let kinds = [
            Damage::Removed,
            Damage::Doubled,
            Damage::Swapped,
            Damage::Changed,
            Damage::Changed,
            Damage::Changed,
            Damage::Moved,
        ];
        let kind = kinds[chance.of(kinds.len())];
        damage(&mut damaged, at, kind, &mut chance);
        let is_renumbered = chance.of(4) > 0;
        if is_renumbered && kind != Damage::Moved {
            for (nth, entry) in (1..).zip(&mut damaged) {
                entry[0] = json!(nth);
            }
        }
        let text = serde_json::to_string(&damaged).unwrap();
        // A journal never returns text that is no entry.
        let Ok(entries) = serde_json::from_str::<Vec<Entry>>(&text) else {
            continue;
        };
        let what = || format!("{kind:?} entry {}, of:\n{}", at + 1, told(&entries));
        let world = World::new();
        let journal = MemoryJournal::of(entries.clone());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            within_a_week(run(case, &world, journal))
        }));
        let said = panics();
        prop_assert!(said.is_empty(), "{:?}\n{}", said, what());
        let is_finished = damaged
            .iter()
            .any(|entry| entry[2] == 0 && !entry[4]["finished"].is_null());
        match ended.unwrap_or_default() {
            None => prop_assert!(!is_finished, "it never ends: {}", what()),
            Some(Err(error)) if error.kind() == ErrorKind::Journal => {
                let said = error.to_string();
                let names_it = said.contains("entry ") || at == 0 && said.contains("the journal");
                prop_assert!(names_it, "{}\n{}", said, what());
                prop_assert_eq!(world.asked(), 0);
            }
            Some(_) if is_finished => prop_assert_eq!(world.asked(), 0, "{}", what()),
            // Whatever was changed so that it still follows: only a key vouches for that.
            Some(_) => {}
        }
        let is_out_of_order = !is_renumbered
            && matches!(kind, Damage::Removed | Damage::Doubled | Damage::Swapped)
            && at + 1 < whole.len();
        if is_out_of_order {
            let (again, world) = (MemoryJournal::of(entries.clone()), World::new());
            let error = within_a_week(run(case, &world, again)).and_then(Result::err);
            let said = error.map(|error| error.to_string()).unwrap_or_default();
            prop_assert!(said.contains("entry "), "{}\n{}", said, what());
        }
    }
    Ok(())
}

const KEY: &[u8; 32] = b"the key of the damaged journals.";

/// A journal with a key, in a file, that is changed in one fact: the refusal names its line and its entry.
pub(super) fn named(case: &Case, entries: &[Entry]) -> Result<(), TestCaseError> {
    let mut chance = Chance(case.seed ^ 1);
    let (text, firsts) = in_file(entries, &mut chance);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), firsts.len() + 1);
    prop_assert!(recorded(&text, KEY).is_ok());
    for _ in 0..TIMES {
        let at = chance.of(firsts.len());
        let mut line: Value = serde_json::from_str(lines[at + 1]).unwrap();
        let before = line["entries"].to_string();
        let Value::Array(of_line) = &mut line["entries"] else {
            panic!("a line has entries: {line}");
        };
        let nth = chance.of(of_line.len());
        damage(of_line, nth, Damage::Changed, &mut chance);
        let after = line["entries"].to_string();
        if after == before {
            continue;
        }
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let digest = &line["digest"];
        changed[at + 1] = format!(r#"{{"digest":{digest},"entries":{after}}}"#);
        let refused = recorded(&(changed.join("\n") + "\n"), KEY).map(|_| ());
        let said = refused.map_err(|error| error.to_string());
        let expected = format!(
            "line {} was altered, or lines before it are missing; it should begin with entry {}",
            at + 2,
            firsts[at]
        );
        prop_assert_eq!(
            said,
            Err(expected),
            "entry {}: {}",
            firsts[at] + nth as u64,
            after
        );
    }
    Ok(())
}

/// Writes the entries into a file, some in each line: its text, and the number of the first entry of each line.
fn in_file(entries: &[Entry], chance: &mut Chance) -> (String, Vec<u64>) {
    let name = format!("agents-damaged-{}.jsonl", process::id());
    let path = env::temp_dir().join(name);
    let _ = fs::remove_file(&path);
    let journal = FileJournal::open(&path, KEY).unwrap();
    let mut firsts = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut rest = entries;
        while let [first, ..] = rest {
            let (batch, behind) = rest.split_at(rest.len().min(1 + chance.of(9)));
            journal.append(batch).await.unwrap();
            firsts.push(first.seq());
            rest = behind;
        }
    });
    drop(journal);
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(path).unwrap();
    (text, firsts)
}
