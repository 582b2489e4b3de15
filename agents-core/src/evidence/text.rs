//! Tokens of a text: where they begin and end, and what belongs together although spaces are in it.

use super::{
    iban::{self, is_space},
    numeral,
};
use std::ops::Range;

/// Text in which values are looked for.
pub(super) struct Text {
    pub(super) chars: Vec<char>,
    /// Numbers and accounts of the text that are written in groups.
    pub(super) groups: Vec<Group>,
}

/// Part of a text in which groups of letters or digits are one value, or may be one. No value begins or ends within it.
pub(super) struct Group {
    pub(super) place: Range<usize>,
    /// The value without its gaps; `None` if the groups may also be several values.
    pub(super) joined: Option<String>,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let chars: Vec<_> = text.chars().collect();
        let mut groups = accounts(&chars);
        let free = numeral::places(&chars).into_iter().filter(|numeral| {
            begins(&chars, numeral.start)
                && !groups
                    .iter()
                    .any(|group| group.place.contains(&numeral.start))
        });
        let numbers = numbers(&chars, &free.collect::<Vec<_>>());
        groups.extend(numbers);
        Text { chars, groups }
    }

    /// Returns the spellings in which the text has a token as a whole, each once. Case does not matter. Spaces are
    /// single in the text, as in the token.
    pub(super) fn spellings(&self, token: &str) -> Vec<String> {
        let words: Vec<_> = token.split_whitespace().collect();
        let token = folded(words.join(" ").chars());
        if !token.iter().any(|(c, _)| c.is_alphanumeric()) {
            return Vec::new();
        }
        let text = folded(self.chars.iter().copied());
        let is_here = |at: usize| {
            let here = text[at..].iter().map(|(c, _)| c);
            text.len() - at >= token.len() && here.zip(&token).all(|(c, (of, _))| c == of)
        };
        let starts = (0..text.len()).filter(|at| is_here(*at));
        let places = starts.filter_map(|at| self.place(&text, at..at + token.len()));
        let joined = self.groups.iter().filter_map(|group| group.joined.clone());
        let joined = joined.filter(|joined| {
            let joined = folded(joined.chars());
            joined
                .iter()
                .map(|(c, _)| c)
                .eq(token.iter().map(|(c, _)| c))
        });
        let mut all: Vec<_> = places
            .map(|place| self.chars[place].iter().collect())
            .chain(joined)
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns the place of a folded part in the text; `None` if a whole token is not there.
    fn place(&self, text: &[(char, usize)], part: Range<usize>) -> Option<Range<usize>> {
        let start = text[part.start].1;
        let end = text.get(part.end).map_or(self.chars.len(), |(_, at)| *at);
        // A letter may fold into two.
        let is_cut =
            |at: usize| at > 0 && text.get(at).is_some_and(|(_, of)| *of == text[at - 1].1);
        let is_whole = !is_cut(part.start) && !is_cut(part.end);
        let is_token = begins(&self.chars, start) && ends(&self.chars, end);
        (is_whole && is_token && !self.cuts_a_group(&(start..end))).then_some(start..end)
    }

    /// Returns `true` if a place begins or ends within a group.
    pub(super) fn cuts_a_group(&self, place: &Range<usize>) -> bool {
        self.groups.iter().any(|group| {
            let is_within = |at: usize| group.place.start < at && at < group.place.end;
            is_within(place.start) || is_within(place.end)
        })
    }
}

/// Returns characters in lower case, each with its index. A space of any width is a space.
fn folded(chars: impl Iterator<Item = char>) -> Vec<(char, usize)> {
    let lower = chars.enumerate().flat_map(|(at, c)| {
        let c = if is_space(c) { ' ' } else { c };
        c.to_lowercase().map(move |c| (c, at))
    });
    lower.collect()
}

/// Returns `true` if a whole token may begin at this place of the text.
pub(super) fn begins(text: &[char], at: usize) -> bool {
    let back = |by: usize| at.checked_sub(by).map(|at| text[at]);
    is_boundary(text.get(at).copied(), back(1), back(2))
}

/// Returns `true` if a whole token may end just before this place of the text.
pub(super) fn ends(text: &[char], at: usize) -> bool {
    let last = at.checked_sub(1).map(|at| text[at]);
    is_boundary(last, text.get(at).copied(), text.get(at + 1).copied())
}

/// Returns `true` if a token whose last character is `edge` may end at `next`, which `beyond` follows. A hyphen or a
/// dot between letters holds them together: `A-17` is no token of `A-17-B`. So does a colon or a slash between digits:
/// `30` is no token of `12:30`.
fn is_boundary(edge: Option<char>, next: Option<char>, beyond: Option<char>) -> bool {
    let is_of_a_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match next {
        Some('-' | '‐' | '‑' | '_' | '.' | '@' | '+' | '\'' | '’') => !is_of_a_word(beyond),
        Some(',' | ':' | '/') => !(is_digit(edge) && is_digit(beyond)),
        // Accents of the letter before them, and characters without width.
        Some(
            '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}',
        ) => false,
        next => !is_of_a_word(next),
    }
}

/// Returns the accounts that the text has in groups of four and whose check digits are right.
fn accounts(text: &[char]) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for start in 0..text.len() {
        let is_new = found.last().is_none_or(|last| last.place.end <= start);
        if is_new && text[start].is_ascii_alphabetic() && begins(text, start) {
            found.extend(account(text, start));
        }
    }
    found
}

/// Returns the account in groups that begins at this place of the text. The text may go on with another group, such as
/// an amount: the check digits say which groups are the account.
fn account(text: &[char], start: usize) -> Option<Group> {
    let is_of = |at: usize| text.get(at).is_some_and(char::is_ascii_alphanumeric);
    let gap = *text.get(start + 4).filter(|c| iban::is_gap(**c))?;
    let (mut at, mut account) = (start, String::new());
    let mut valid = Vec::new();
    loop {
        let length = (0..5).take_while(|by| is_of(at + by)).count();
        account.extend(&text[at..at + length]);
        at += length;
        if (1..5).contains(&length) && ends_group(text, at) && iban::is_valid(&account) {
            valid.push((at, account.clone()));
        }
        if length != 4 || text.get(at) != Some(&gap) {
            break;
        }
        at += 1;
    }
    let (end, joined) = valid.pop()?;
    Some(Group {
        place: start..end,
        joined: valid.is_empty().then_some(joined),
    })
}

/// Returns `true` if a group may end here: at the end of a token, or at the gap before another group.
fn ends_group(text: &[char], at: usize) -> bool {
    ends(text, at) || text.get(at) == Some(&'-')
}

/// Returns the numbers that the text has in groups of three with spaces between them, as `4 200`. `free` has the places
/// of the numerals that may be numbers.
fn numbers(text: &[char], free: &[Range<usize>]) -> Vec<Group> {
    let is_next = |one: &Range<usize>, next: &Range<usize>| {
        next.start == one.end + 1 && is_space(text[one.end])
    };
    let goes_on = |one: &Range<usize>, next: &Range<usize>| {
        let is_plain = text[one.clone()].iter().all(char::is_ascii_digit);
        let digits = text[next.clone()].iter().take_while(|c| c.is_ascii_digit());
        is_next(one, next) && is_plain && one.len() <= 3 && digits.count() == 3
    };
    let mut found = Vec::new();
    let mut first = 0;
    while first < free.len() {
        let mut last = first;
        while last + 1 < free.len() && goes_on(&free[last], &free[last + 1]) {
            last += 1;
        }
        if last > first {
            let place = free[first].start..free[last].end;
            let has_neighbour = first > 0 && is_next(&free[first - 1], &free[first])
                || last + 1 < free.len() && is_next(&free[last], &free[last + 1]);
            let is_one = !has_neighbour && is_one_number(text, &free[first..=last]);
            let digits = || text[place.clone()].iter().filter(|c| !is_space(**c));
            found.push(Group {
                joined: is_one.then(|| digits().collect()),
                place,
            });
        }
        first = last + 1;
    }
    found
}

/// Returns `true` if groups of digits are one number, and not a list of numbers: the first has one or two digits, or a
/// later one begins with a zero, or a currency stands beside them.
fn is_one_number(text: &[char], groups: &[Range<usize>]) -> bool {
    let [first, .., last] = groups else {
        return false;
    };
    let decimals = last.len().saturating_sub(4);
    let has_zero = groups[1..].iter().any(|group| text[group.start] == '0');
    let is_list =
        first.len() == 3 && !has_zero && !numeral::has_currency(text, first.start, last.end);
    // Behind a point, three digits may be another group.
    !is_list && decimals != 3 && last.len() != 4
}
