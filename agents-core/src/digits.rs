/// Appends a number in decimal digits, with zeros before it if it has fewer than `least` digits. `least` is from 1 to
/// 10.
///
/// The formatting of the standard library does the same, and takes several hundred instructions for it. Each turn of a
/// run writes a few numbers.
pub(crate) fn push_number(text: &mut String, number: u32, least: usize) {
    let mut digits = [0; 10];
    let (mut rest, mut at) = (number, digits.len());
    while at > 0 && (rest > 0 || digits.len() - at < least) {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text.extend(digits[at..].iter().copied().map(char::from));
}

#[cfg(test)]
mod tests {
    use super::push_number;

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        for number in [0, 1, 9, 10, 407, 9_999, 10_000, u32::MAX] {
            let mut text = String::from("n");
            push_number(&mut text, number, 1);
            assert_eq!(text, format!("n{number}"));
            push_number(&mut text, number, 4);
            assert_eq!(text, format!("n{number}{number:04}"));
        }
    }
}
