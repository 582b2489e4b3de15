//! Decoders: they undo one level of encoding. Where it matters, they remember where in the text each decoded byte comes
//! from.

use std::{
    collections::{HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Byte of a decoded text in which secrets are searched: a plain `u8`, or a [`Placed`] byte.
pub(super) trait Unit: Copy {
    /// Returns the byte of the decoded text, without the place where it stands.
    fn byte(self) -> u8;

    /// Returns the unit for a byte that was encoded by the units from `first` to `last`.
    fn decoded(byte: u8, first: Self, last: Self) -> Self;
}

impl Unit for u8 {
    fn byte(self) -> u8 {
        self
    }

    fn decoded(byte: u8, _: Self, _: Self) -> Self {
        byte
    }
}

/// Byte of a decoded text, with its place in the text that encodes it.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) byte: u8,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Placed {
    /// Returns the bytes of a part of a text with their places; the part begins at `from`.
    pub(super) fn plain(part: &[u8], from: usize) -> Vec<Placed> {
        let units = part.iter().zip(from..);
        let units = units.map(|(byte, from)| Placed {
            byte: *byte,
            from,
            to: from + 1,
        });
        units.collect()
    }
}

impl Unit for Placed {
    fn byte(self) -> u8 {
        self.byte
    }

    fn decoded(byte: u8, first: Self, last: Self) -> Self {
        Placed {
            byte,
            from: first.from,
            to: last.to,
        }
    }
}

/// Maximum number of encodings, one within the other, that a search for secrets undoes.
const DEPTH: usize = 6;
/// Maximum number of base64 encodings among those that are undone.
const BASE64_DEPTH: usize = 2;
/// Maximum number of decoded texts as long as the text itself. Text that was not made to defeat a search has fewer.
const LAYERS: usize = 24;
/// Length in bytes up to which all texts may have the same number of decoded texts.
const LEAST: usize = 1 << 10;
/// Minimum length of a line of base64 that may continue on the next line. Encoders break lines at 64 or 76 characters.
const WRAPPED: usize = 60;
/// Byte that separates decoded runs of base64, since no text has it.
const BREAK: u8 = 0xFF;

/// Calls `visit` with a text and, within the bounds above, with each text that it may encode, in turn, until `visit`
/// returns `true`. Runs of base64 shorter than `shortest_run` are passed over. Returns `true` if `visit` did.
pub(super) fn layers<U: Unit>(
    text: Vec<U>,
    shortest_run: usize,
    mut visit: impl FnMut(&[U]) -> bool,
) -> bool {
    let mut work = text.len().max(LEAST) * LAYERS;
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([(text, DEPTH, BASE64_DEPTH)]);
    while let Some((units, depth, base64_depth)) = queue.pop_front() {
        if visit(&units) {
            return true;
        }
        work = work.saturating_sub(units.len());
        if depth == 0 || work == 0 {
            continue;
        }
        let escaped = [b'\\', b'%'].into_iter();
        let escaped = escaped.filter_map(|sign| unescaped(&units, sign));
        let mut add = |units: Vec<U>, base64_depth| {
            // Escapes of two kinds give the same text in either order.
            let mut digest = DefaultHasher::new();
            for eight in units.chunks(8) {
                let bytes = eight.iter().map(|unit| u64::from(unit.byte()));
                digest.write_u64(bytes.fold(0, |all, byte| all << 8 | byte));
            }
            units.len().hash(&mut digest);
            if seen.insert(digest.finish()) {
                queue.push_back((units, depth - 1, base64_depth));
            }
        };
        escaped.for_each(|units| add(units, base64_depth));
        if let Some(base64_depth) = base64_depth.checked_sub(1) {
            let texts = base64(&units, shortest_run).into_iter();
            texts.for_each(|units| add(units, base64_depth));
        }
    }
    false
}

/// Undoes one level of the escapes that begin with `sign`, a backslash or `%`; `None` if there is none.
fn unescaped<U: Unit>(units: &[U], sign: u8) -> Option<Vec<U>> {
    let next = |from: usize| {
        let rest = &units[from..];
        let found = rest.iter().position(|unit| unit.byte() == sign);
        found.map(|found| from + found)
    };
    let mut found = next(0)?;
    let mut out = Vec::with_capacity(units.len());
    let (mut copied, mut any) = (0, false);
    loop {
        let after = match escape(&units[found..]) {
            Some((length, meant)) => {
                out.extend_from_slice(&units[copied..found]);
                let (first, last) = (units[found], units[found + length - 1]);
                let unit = |byte| U::decoded(byte, first, last);
                match meant {
                    Meant::Byte(byte) => out.push(unit(byte)),
                    Meant::Char(c) => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(unit)),
                }
                any = true;
                copied = found + length;
                copied
            }
            None => found + 1,
        };
        match next(after) {
            Some(next) => found = next,
            None => break,
        }
    }
    out.extend_from_slice(&units[copied..]);
    any.then_some(out)
}

/// Byte or character for which an escape of a text stands.
enum Meant {
    Byte(u8),
    Char(char),
}

/// Returns the length of the escape with which these units begin, and what it stands for; `None` if they begin with
/// none.
fn escape<U: Unit>(units: &[U]) -> Option<(usize, Meant)> {
    let byte = |at: usize| units.get(at).map(|unit| unit.byte());
    let hex = |from: usize, count: usize| {
        (from..from + count).try_fold(0, |number, at| {
            let digit = char::from(byte(at)?).to_digit(16)?;
            Some(number << 4 | digit)
        })
    };
    match (byte(0)?, byte(1)?) {
        (b'%', _) => Some((3, Meant::Byte(u8::try_from(hex(1, 2)?).ok()?))),
        (b'\\', b'x') => Some((4, Meant::Char(char::from_u32(hex(2, 2)?)?))),
        (b'\\', b'u') if byte(2) == Some(b'{') => {
            let digits = (3..10).take_while(|at| byte(*at) != Some(b'}')).count();
            let closes = byte(3 + digits) == Some(b'}');
            let c = char::from_u32(hex(3, digits)?).filter(|_| closes && digits > 0)?;
            Some((4 + digits, Meant::Char(c)))
        }
        (b'\\', b'u') => {
            let high = hex(2, 4)?;
            if let Some(c) = char::from_u32(high) {
                return Some((6, Meant::Char(c)));
            }
            let low = match (byte(6), byte(7)) {
                (Some(b'\\'), Some(b'u')) => hex(8, 4)?,
                _ => return None,
            };
            let pair = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
            let c = char::decode_utf16(pair).next()?.ok()?;
            Some((12, Meant::Char(c)))
        }
        (b'\\', letter) => {
            let meant = match letter {
                b'\\' | b'"' | b'\'' | b'/' => letter,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' => 8,
                b'f' => 12,
                b'0' => 0,
                _ => return None,
            };
            Some((2, Meant::Byte(meant)))
        }
        _ => None,
    }
}

/// Returns the bytes that the runs of at least `shortest` characters of base64, of either alphabet, may encode. A run may
/// be a part of a longer one, so there are four ways to read it.
fn base64<U: Unit>(units: &[U], shortest: usize) -> Vec<Vec<U>> {
    let mut readings: [Vec<U>; 4] = Default::default();
    let mut at = 0;
    while at < units.len() {
        let (end, length) = run(units, at);
        if length >= shortest.max(2) {
            let padding = units[end..].iter().take(2);
            let padding = padding.take_while(|unit| unit.byte() == b'=').count();
            for (skipped, reading) in readings.iter_mut().enumerate() {
                decode(
                    &units[at..end],
                    skipped,
                    &units[end..end + padding],
                    reading,
                );
            }
        }
        at = end.max(at + 1);
    }
    let readings = readings.into_iter();
    readings.filter(|reading| !reading.is_empty()).collect()
}

/// Returns where the run of base64 that begins at `at` ends, and its number of characters without line breaks.
fn run<U: Unit>(units: &[U], mut at: usize) -> (usize, usize) {
    let (mut length, mut line) = (0, 0);
    loop {
        let rest = &units[at..];
        let is_inside = |unit: &&U| six_bits(unit.byte()).is_some();
        line += rest.iter().take_while(is_inside).count();
        at += line;
        length += line;
        let rest = &units[at..];
        let is_break = |unit: &&U| matches!(unit.byte(), b'\r' | b'\n');
        let breaks = rest.iter().take_while(is_break).count();
        let goes_on = rest.get(breaks).is_some_and(|unit| is_inside(&unit));
        if breaks == 0 || line < WRAPPED || !goes_on {
            return (at, length);
        }
        at += breaks;
        line = 0;
    }
}

/// Decodes a run of base64 without its first `skipped` characters, and adds the bytes to `out`. The place of the last
/// byte reaches to the end of the padding.
fn decode<U: Unit>(run: &[U], skipped: usize, padding: &[U], out: &mut Vec<U>) {
    let (mut group, mut filled) = ([run[0]; 4], 0);
    let mut bits = 0;
    if !out.is_empty() {
        out.push(U::decoded(BREAK, run[0], run[0]));
    }
    let begin = out.len();
    let mut add = |group: &[U], bits: u32| {
        let bytes = (bits << (6 * (4 - group.len()))).to_be_bytes();
        for (pair, byte) in group.windows(2).zip(&bytes[1..]) {
            out.push(U::decoded(*byte, pair[0], pair[1]));
        }
    };
    let characters = run
        .iter()
        .filter_map(|unit| Some((unit, six_bits(unit.byte())?)));
    for (unit, six) in characters.skip(skipped) {
        group[filled] = *unit;
        bits = bits << 6 | u32::from(six);
        filled += 1;
        if filled == 4 {
            add(&group, bits & 0xFF_FFFF);
            filled = 0;
            bits = 0;
        }
    }
    add(&group[..filled], bits);
    if out.len() > begin
        && let (Some(last), Some(end)) = (out.last_mut(), run.last())
    {
        let end = padding.last().unwrap_or(end);
        *last = U::decoded(last.byte(), *last, *end);
    }
}

pub(super) fn six_bits(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    #[test]
    fn one_level_of_escapes_is_undone() {
        for (sign, escaped, expected) in [
            (b'\\', r#"a\"b\\n\/%41"#, r#"a"b\n/%41"#),
            (b'%', r"%41%2541%4\\", r"A%41%4\\"),
            (b'\\', r"\x41\u0041\u{41}\u{}", r"AAA\u{}"),
            (b'\\', r"\ud83d\ud83d\\", r"\ud83d\ud83d\"),
        ] {
            let decoded = unescaped(escaped.as_bytes(), sign).unwrap();
            assert_eq!(text(&decoded), expected, "{escaped}");
        }
        assert_eq!(unescaped(br"\ud83d\ud83d", b'\\'), None);
        let units = Placed::plain(r"😀\ud83d\ude00!".as_bytes(), 0);
        let units = unescaped(&units, b'\\').unwrap();
        let bytes: Vec<_> = units.iter().map(|unit| unit.byte).collect();
        assert_eq!(bytes, "😀😀!".as_bytes());
        assert_eq!((units[4].from, units[7].to), (4, 16));
    }

    #[test]
    fn base64_is_read_at_each_position_and_over_line_breaks() {
        let units = Placed::plain(b"xdTpodW50ZXI= ab", 0);
        let readings = base64(&units, 8);
        assert_eq!(readings.len(), 4);
        let bytes: Vec<_> = readings[1].iter().map(|unit| unit.byte).collect();
        assert_eq!(bytes, b"u:hunter");
        assert_eq!(readings[1][7].to, 13, "padding is included");

        let line = "QUFB".repeat(19);
        let wrapped = format!("{line}\r\n{line}\n");
        let readings = base64(wrapped.as_bytes(), 8);
        assert_eq!(text(&readings[0]), "A".repeat(114));
    }
}
