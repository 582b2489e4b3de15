use std::sync::Arc;

/// Returns bytes in lower-case hexadecimal, two digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let text = bytes.iter().flat_map(|byte| letters(*byte)).collect();
    // Letters and digits are text.
    String::from_utf8(text).unwrap_or_default()
}

/// Returns the first half of a digest in hexadecimal (32 digits), as an id that can be shared.
pub(crate) fn id(digest: &[u8; 32]) -> Arc<str> {
    let mut text = [0; 32];
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest) {
        pair.copy_from_slice(&letters(*byte));
    }
    // Letters and digits are text.
    str::from_utf8(&text).unwrap_or_default().into()
}

/// Returns the two hexadecimal digits of a byte.
fn letters(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ]
}

#[cfg(test)]
mod tests {
    use super::{hex, id};

    #[test]
    fn an_id_is_half_a_digest() {
        let digest = std::array::from_fn(|at| at as u8 * 7);
        assert_eq!(*id(&digest), *hex(&digest[..16]));
        assert_eq!(hex(&[0, 1, 0xaf]), "0001af");
    }
}
