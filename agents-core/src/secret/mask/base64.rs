//! How a text looks within base64, wherever it begins there.

/// The two alphabets: the standard one, and the one that is safe in URLs.
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The characters that `value` alone decides, for each of the three ways in which it may lie in the
/// groups of three bytes, and in both alphabets. What the bytes beside it decide too is left out:
/// so it is found within `user:value`, and padding does not matter.
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

/// The certain part of an encoded text.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) text: String,
    /// The character after it belongs to it in part.
    pub(super) ragged: bool,
}

fn core(value: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let bits = |index: usize| -> u32 {
        // Six bits from here, of `before` unknown bytes and then the value.
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

/// What of the last group is left after a ragged core: one character, and padding.
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
