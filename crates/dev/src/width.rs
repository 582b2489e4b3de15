//! Width of text on a terminal, where some characters take two columns and some take none.

/// Ranges of characters that take two columns of a terminal: the East Asian scripts and most pictures.
const WIDE: [(u32, u32); 26] = [
    (0x1100, 0x115f),
    (0x231a, 0x231b),
    (0x23e9, 0x23ec),
    (0x25fd, 0x25fe),
    (0x2614, 0x2615),
    (0x2648, 0x2653),
    (0x26aa, 0x26ab),
    (0x26bd, 0x26be),
    (0x26c4, 0x26c5),
    (0x2705, 0x2705),
    (0x270a, 0x270b),
    (0x2728, 0x2728),
    (0x274c, 0x274e),
    (0x2753, 0x2757),
    (0x2795, 0x2797),
    (0x2b1b, 0x2b1c),
    (0x2e80, 0x303e),
    (0x3041, 0x33ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0xa4cf),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff00, 0xff60),
    (0x1f300, 0x1faff),
    (0x20000, 0x3fffd),
];

/// Ranges of characters that take no column of a terminal: marks above other characters, and joiners.
const NONE: [(u32, u32); 9] = [
    (0x0300, 0x036f),
    (0x0591, 0x05bd),
    (0x064b, 0x065f),
    (0x1ab0, 0x1aff),
    (0x1dc0, 0x1dff),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x20d0, 0x20ff),
    (0xfe00, 0xfe0f),
];

fn of(c: char) -> usize {
    let is_in = |ranges: &[(u32, u32)]| {
        let mut ranges = ranges.iter();
        ranges.any(|(from, to)| (*from..=*to).contains(&u32::from(c)))
    };
    match c {
        ' '..='~' => 1,
        _ if is_in(&NONE) => 0,
        _ if is_in(&WIDE) => 2,
        _ => 1,
    }
}

/// Returns the number of columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(of).sum()
}

/// Returns the text on one line of at most `most` columns, but at least one. If the text is cut, it
/// ends with `…`.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let flat = text
        .chars()
        // A terminal would obey control characters.
        .map(|c| if c.is_control() { ' ' } else { c });
    let flat: String = flat.collect();
    if columns(&flat) <= most {
        return flat;
    }
    let mut room = most.saturating_sub(1);
    let fits = |c: &char| {
        let fits = of(*c) <= room;
        room = room.saturating_sub(of(*c));
        fits
    };
    let kept: String = flat.chars().take_while(fits).collect();
    format!("{kept}…")
}

/// Returns the text, filled with spaces to this number of columns.
pub(crate) fn pad(text: &str, to: usize) -> String {
    let space = to.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(space))
}

#[cfg(test)]
mod tests {
    use super::{columns, cut, pad};

    #[test]
    fn what_takes_more_than_one_column() {
        assert_eq!(columns("plain"), 5);
        assert_eq!(columns("äé→█▸…✓"), 7);
        assert_eq!(columns("検索"), 4);
        assert_eq!(columns("🦀 e\u{301}"), 4);
        assert_eq!(pad("検", 4), "検  ");
    }

    #[test]
    fn what_is_cut_has_the_room_that_there_is() {
        assert_eq!(cut("plain", 5), "plain");
        assert_eq!(cut("plainly", 5), "plai…");
        assert_eq!(cut("検索する", 5), "検索…");
        assert_eq!(cut("検索する", 4), "検…");
        assert_eq!(cut("a\nb\u{1b}[2Jc", 20), "a b [2Jc");
        for most in 0..9 {
            assert!(columns(&cut("x検🦀索y", most)) <= most.max(1));
        }
    }
}
