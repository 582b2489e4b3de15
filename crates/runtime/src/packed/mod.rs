//! Entries of a journal in few bytes.
//!
//! Entries are mostly words that all of them share. They are written without those words: a text is a series of pieces,
//! each of which is either said or found in a [dictionary](WORDS) that never changes. No piece refers to another one of
//! the same journal, so the length of the result tells nothing about texts that are alike.

use crate::RuntimeError;
use agents_core::journal::Entry;
use std::{collections::HashMap, sync::OnceLock};

/// Dictionary of words that journal entries have in common. It is a part of the format: with any other dictionary,
/// stored entries cannot be read.
const WORDS: &[u8] = include_bytes!("words.txt");

/// First byte of packed entries, which names their format. Entries that are stored as JSON begin with a bracket.
const FORMAT: u8 = 1;

/// Minimum length in bytes of a piece of text that is replaced by its place in the dictionary.
const SHORTEST: usize = 4;

/// Maximum length of any piece of packed text, in bytes.
const LONGEST: usize = 127;

/// Bit in the first byte of a piece, whose other bits are the piece's length. If it is set, the piece's place in the
/// dictionary follows; else the piece's text does.
const FOUND: u8 = 0x80;

/// Packs journal entries, which have to follow each other, into few bytes.
pub(crate) fn pack(entries: &[Entry]) -> Result<Vec<u8>, RuntimeError> {
    let mut packed = vec![FORMAT];
    let mut before = 0;
    for entry in entries {
        let text = serde_json::to_string(entry).map_err(RuntimeError::unreadable)?;
        let parts =
            parts(&text).ok_or_else(|| RuntimeError::unreadable("an entry has no parts"))?;
        let Parts {
            at,
            run,
            place,
            fact,
        } = parts;
        // Times of one step are close to each other.
        number(&mut packed, zigzag(at.wrapping_sub(before).cast_signed()));
        before = at;
        number(&mut packed, run);
        number(&mut packed, place);
        number(&mut packed, fact.len() as u64);
        said_or_found(&mut packed, fact.as_bytes());
    }
    Ok(packed)
}

/// Returns the JSON of packed entries, the first of which follows the entry with the number `after`. Entries that were
/// stored as JSON are returned as they are.
pub(crate) fn unpack(bytes: Vec<u8>, after: u64) -> Result<Vec<u8>, RuntimeError> {
    let broken = || RuntimeError::unreadable("the stored entries are not whole");
    let Some((&FORMAT, mut rest)) = bytes.split_first() else {
        return match bytes.first() {
            Some(b'[') => Ok(bytes),
            _ => Err(RuntimeError::unreadable(
                "the entries have the format of a later version; use the later program",
            )),
        };
    };
    let rest = &mut rest;
    let (mut json, mut at, mut seq) = (b"[".to_vec(), 0_u64, after);
    while !rest.is_empty() {
        let next = |rest: &mut &[u8]| read_number(rest).ok_or_else(broken);
        at = at.wrapping_add(unzigzag(next(rest)?).cast_unsigned());
        let (run, place, length) = (next(rest)?, next(rest)?, next(rest)?);
        seq += 1;
        if json.len() > 1 {
            json.push(b',');
        }
        json.extend(format!("[{seq},{at},{run},{place},").bytes());
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| json.len().checked_add(length));
        let end = end.ok_or_else(broken)?;
        while json.len() < end {
            let piece = piece(rest).ok_or_else(broken)?;
            json.extend_from_slice(piece);
        }
        if json.len() != end {
            return Err(broken());
        }
        json.push(b']');
    }
    json.push(b']');
    Ok(json)
}

/// Parts of an entry that are stored when it is packed. Its number follows from the entries before it.
struct Parts<'a> {
    at: u64,
    run: u64,
    place: u64,
    fact: &'a str,
}

/// Returns the parts of an entry's JSON, `[seq,at,run,place,fact]`; `None` if the text has another form.
fn parts(text: &str) -> Option<Parts<'_>> {
    let mut parts = text.strip_prefix('[')?.strip_suffix(']')?.splitn(5, ',');
    parts.next()?;
    let mut number = || parts.next()?.parse().ok();
    let (at, run, place) = (number()?, number()?, number()?);
    let fact = parts.next()?;
    Some(Parts {
        at,
        run,
        place,
        fact,
    })
}

/// Writes a text as pieces: places in the dictionary, and the text between them as it is.
fn said_or_found(packed: &mut Vec<u8>, text: &[u8]) {
    let (mut at, mut said) = (0, 0);
    while at < text.len() {
        let Some((place, length)) = found(&text[at..]) else {
            at += 1;
            continue;
        };
        say(packed, &text[said..at]);
        packed.push(FOUND | u8::try_from(length).unwrap_or(0));
        packed.extend(place.to_le_bytes());
        at += length;
        said = at;
    }
    say(packed, &text[said..]);
}

fn say(packed: &mut Vec<u8>, text: &[u8]) {
    for piece in text.chunks(LONGEST) {
        packed.push(u8::try_from(piece.len()).unwrap_or(0));
        packed.extend_from_slice(piece);
    }
}

/// Returns the position and the length of the longest piece of the dictionary with which the text begins; `None` if it
/// begins with none.
fn found(text: &[u8]) -> Option<(u16, usize)> {
    let places = places().get(text.first_chunk::<SHORTEST>()?)?;
    let length = |place: u16| {
        let word = &WORDS[usize::from(place)..];
        let same = text.iter().zip(word).take(LONGEST);
        same.take_while(|(one, other)| one == other).count()
    };
    let found = places.iter().map(|place| (*place, length(*place)));
    found.max_by_key(|(_, length)| *length)
}

/// Returns the positions in the dictionary by the four bytes that begin there.
fn places() -> &'static HashMap<[u8; SHORTEST], Vec<u16>> {
    static PLACES: OnceLock<HashMap<[u8; SHORTEST], Vec<u16>>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places: HashMap<_, Vec<u16>> = HashMap::new();
        for (place, bytes) in WORDS.windows(SHORTEST).enumerate() {
            let (Ok(bytes), Ok(place)) = (bytes.try_into(), u16::try_from(place)) else {
                break;
            };
            places.entry(bytes).or_default().push(place);
        }
        places
    })
}

/// Removes the next piece from `rest`, and returns its text; `None` if it is broken.
fn piece<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_first()?;
    let length = usize::from(head & !FOUND);
    if head & FOUND == 0 {
        let (said, tail) = tail.split_at_checked(length)?;
        *rest = tail;
        return (!said.is_empty()).then_some(said);
    }
    let (place, tail) = tail.split_first_chunk()?;
    *rest = tail;
    let place = usize::from(u16::from_le_bytes(*place));
    let found = WORDS.get(place..place + length)?;
    (!found.is_empty()).then_some(found)
}

/// Writes a number in as few bytes as it needs, with seven bits in each.
fn number(packed: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        packed.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    packed.push(u8::try_from(number).unwrap_or(0));
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Returns a number with a sign as one without, which is small if the number is close to zero.
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests;
