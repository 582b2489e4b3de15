use super::*;

fn entries(lines: &str) -> Vec<Entry> {
    let lines = lines.lines().skip(1);
    let entries = lines.flat_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        serde_json::from_value::<Vec<Entry>>(line["entries"].clone()).unwrap()
    });
    entries.collect()
}

const EVENTFUL: &str = include_str!("../../../../tests/fixtures/journals/1_eventful.jsonl");

#[test]
fn packed_entries_are_those_that_were_packed() {
    let entries = entries(EVENTFUL);
    let json = serde_json::to_string(&entries).unwrap();
    let packed = pack(&entries).unwrap();
    assert_eq!(
        String::from_utf8(unpack(packed.clone(), 0).unwrap()).unwrap(),
        json
    );
    let (all, few) = (json.len(), packed.len());
    assert!(few * 2 < all, "{all} bytes are {few} when they are packed");
    // From the middle on.
    let behind = pack(&entries[7..]).unwrap();
    let unpacked = unpack(behind, 7).unwrap();
    let unpacked: Vec<Entry> = serde_json::from_slice(&unpacked).unwrap();
    assert_eq!(unpacked, entries[7..]);
}

#[test]
fn any_text_is_packed_and_unpacked() {
    let long = format!("{}é\u{1f980}\"\\", "{\"call\":{\"seq\":".repeat(60));
    let texts = ["", "a", "word", "settled", &*long, "\u{0}\u{80}\u{ff}"];
    for text in texts {
        let fact = serde_json::to_string(text).unwrap();
        let entry = format!("[1,{},0,4294967295,{fact}]", u64::MAX);
        let again = format!("[2,0,7,0,{fact}]");
        let entries: Vec<Entry> = serde_json::from_str(&format!("[{entry},{again}]")).unwrap();
        let unpacked = unpack(pack(&entries).unwrap(), 0).unwrap();
        assert_eq!(
            serde_json::from_slice::<Vec<Entry>>(&unpacked).unwrap(),
            entries
        );
    }
}

#[test]
fn entries_that_were_stored_as_json_are_read() {
    let json = br#"[[1,5,0,0,"over"]]"#.to_vec();
    assert_eq!(unpack(json.clone(), 0).unwrap(), json);
}

#[test]
fn entries_of_a_later_format_are_refused() {
    let later = unpack(vec![2, 0, 0], 0).unwrap_err();
    assert!(later.to_string().contains("later version"), "{later}");
}

#[test]
fn cut_and_damaged_entries_do_not_panic() {
    let packed = pack(&entries(EVENTFUL)).unwrap();
    for length in 1..packed.len() {
        // A cut between two entries leaves whole ones; that a step is whole is known from its encryption.
        let _ = unpack(packed[..length].to_vec(), 0);
    }
    for at in 1..packed.len() {
        for bit in 0..8 {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << bit;
            let _ = unpack(damaged, 0);
        }
    }
}

/// The dictionary is a part of the format. Whoever needs other words adds a format.
#[test]
fn the_dictionary_is_frozen() {
    let digest = hmac_sha256::Hash::hash(WORDS);
    assert_eq!(crate::keys::hex(&digest[..8]), "edd43c90fb4e7e99");
    assert!(WORDS.len() <= usize::from(u16::MAX));
    let stored = [1, 0, 0, 0, 6, 1, b'"', 0x84, 0, 0, 1, b'"'];
    assert!(unpack(stored.to_vec(), 0).is_ok());
}
