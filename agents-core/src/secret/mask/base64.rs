//! Spellings of a text within base64, at any position in the encoded bytes.

/// Standard alphabet of base64; `URL_SAFE` is the one for URLs.
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns the characters of base64 that `value` alone decides. The value may have three positions
/// in the groups of three bytes, and there are two alphabets: each combination has a text of its
/// own. Characters that the neighbouring bytes decide too are left out: so the value is found
/// within `user:value`, and padding does not matter.
pub(super) fn within(value: &str) -> Vec<Core> {
    let mut all: Vec<Core> = Vec::new();
    for alphabet in [STANDARD, URL_SAFE] {
        for before in 0..3 {
            let text = core(value.as_bytes(), before, alphabet);
            if all.iter().all(|known| known.text != text) {
                let ragged = !(before + value.len()).is_multiple_of(3);
                all.push(Core { text, ragged });
            }
        }
    }
    all
}

/// Part of an encoded text that the value alone decides.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) text: String,
    /// Is `true` if the next character belongs to the value in part.
    pub(super) ragged: bool,
}

fn core(value: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let bits = |index: usize| -> u32 {
        // Collects six bits from position `index`, of `before` unknown bytes followed by the value.
        (0..6).fold(0, |bits, bit| {
            let at = index * 6 + bit;
            let byte = value[at / 8 - before];
            bits << 1 | u32::from(byte >> (7 - at % 8) & 1)
        })
    };
    let first = (before * 8).div_ceil(6);
    let end = (before + value.len()) * 8 / 6;
    (first..end)
        .map(|index| char::from(alphabet[bits(index) as usize]))
        .collect()
}

/// Returns the number of bytes that belong to the last group after a ragged core: one character,
/// and padding.
pub(super) fn rest(text: &str) -> usize {
    let partial = text
        .bytes()
        .take(1)
        .filter(|byte| STANDARD.contains(byte) || URL_SAFE.contains(byte))
        .count();
    let padding = text[partial..].bytes().take(2).take_while(|b| *b == b'=');
    partial + padding.count()
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn the_cores_are_within_what_encoders_write() {
        let cores = within("hunter2!?");
        for encoded in [
            "aHVudGVyMiE/",         // hunter2!?
            "aHVudGVyMiE_",         // the same, safe in URLs
            "dTpodW50ZXIyIT8=",     // u:hunter2!?
            "YWRhOmh1bnRlcjIhPw==", // ada:hunter2!?
            "YWRhbTpodW50ZXIyIT8K", // adam:hunter2!?\n
        ] {
            assert!(
                cores.iter().any(|core| encoded.contains(&core.text)),
                "{encoded}: {cores:?}"
            );
        }
    }
}
