use std::sync::Arc;

/// Returns two hexadecimal digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.extend(letters(*byte).map(char::from));
    }
    text
}

/// Returns the first half of a digest in hexadecimal digits, as a shared id.
pub(crate) fn id(digest: &[u8; 32]) -> Arc<str> {
    let mut text = [0; 32];
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest) {
        pair.copy_from_slice(&letters(*byte));
    }
    // The bytes are ASCII digits, so this is text.
    str::from_utf8(&text).unwrap_or_default().into()
}

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
