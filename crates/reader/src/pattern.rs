//! Regular expressions as schemas use them, matched in linear time.
//!
//! The usual subset is supported: literals, `.`, classes, groups, alternatives, repetition, `^` and `$`. A pattern
//! with anything else is not checked at all, rather than checked wrongly.

use std::{iter::Peekable, str::Chars};

/// Regular expression of a schema's `pattern`, compiled. It is searched for anywhere in a text.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    program: Vec<Op>,
}

#[derive(Debug, Clone)]
enum Op {
    One(Class),
    /// Continues at both of these instructions: an alternative or a repetition.
    Split(usize, usize),
    Jump(usize),
    Start,
    End,
    Match,
}

#[derive(Debug, Clone)]
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Class {
    fn has(&self, c: char) -> bool {
        self.ranges
            .iter()
            .any(|&(low, high)| (low..=high).contains(&c))
            != self.negated
    }
}

enum Tree {
    One(Class),
    Start,
    End,
    Sequence(Vec<Tree>),
    Either(Vec<Tree>),
    Repeat(Box<Tree>, usize, Option<usize>),
}

/// Maximum number of instructions of a compiled pattern; a larger pattern is not checked.
const MAX_OPS: usize = 2000;

impl Pattern {
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let mut chars = pattern.chars().peekable();
        let tree = alternatives(&mut chars, 0)?;
        if chars.next().is_some() {
            return None;
        }
        let mut program = Vec::new();
        emit(&tree, &mut program)?;
        program.push(Op::Match);
        Some(Self { program })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let mut now = Vec::new();
        let mut seen = vec![false; self.program.len()];
        let mut chars = text.chars();
        let mut start = true;
        loop {
            let next = chars.next();
            // A match may begin at every character.
            self.follow(0, start, next.is_none(), &mut seen, &mut now);
            if now.iter().any(|&at| matches!(self.program[at], Op::Match)) {
                return true;
            }
            let Some(c) = next else { return false };
            let end = chars.as_str().is_empty();
            seen.fill(false);
            let mut then = Vec::with_capacity(now.len());
            for at in now {
                if let Op::One(class) = &self.program[at]
                    && class.has(c)
                {
                    self.follow(at + 1, false, end, &mut seen, &mut then);
                }
            }
            now = then;
            start = false;
        }
    }

    fn follow(
        &self,
        from: usize,
        start: bool,
        end: bool,
        seen: &mut [bool],
        into: &mut Vec<usize>,
    ) {
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match self.program[at] {
                Op::One(_) | Op::Match => into.push(at),
                Op::Jump(to) => work.push(to),
                Op::Split(one, two) => work.extend([one, two]),
                Op::Start if start => work.push(at + 1),
                Op::End if end => work.push(at + 1),
                Op::Start | Op::End => {}
            }
        }
    }
}

fn emit(tree: &Tree, program: &mut Vec<Op>) -> Option<()> {
    if program.len() > MAX_OPS {
        return None;
    }
    match tree {
        Tree::One(class) => program.push(Op::One(class.clone())),
        Tree::Start => program.push(Op::Start),
        Tree::End => program.push(Op::End),
        Tree::Sequence(parts) => parts.iter().try_for_each(|part| emit(part, program))?,
        Tree::Either(parts) => {
            let mut ends = Vec::new();
            for (n, part) in parts.iter().enumerate() {
                let split = program.len();
                if n + 1 < parts.len() {
                    program.push(Op::Split(split + 1, 0));
                }
                emit(part, program)?;
                if n + 1 < parts.len() {
                    ends.push(program.len());
                    program.push(Op::Jump(0));
                    program[split] = Op::Split(split + 1, program.len());
                }
            }
            let end = program.len();
            for at in ends {
                program[at] = Op::Jump(end);
            }
        }
        Tree::Repeat(part, least, most) => {
            for _ in 0..*least {
                emit(part, program)?;
            }
            match most {
                None => {
                    let split = program.len();
                    program.push(Op::Match);
                    emit(part, program)?;
                    program.push(Op::Jump(split));
                    program[split] = Op::Split(split + 1, program.len());
                }
                Some(most) => {
                    let mut splits = Vec::new();
                    for _ in *least..*most {
                        splits.push(program.len());
                        program.push(Op::Match);
                        emit(part, program)?;
                    }
                    let end = program.len();
                    for at in splits {
                        program[at] = Op::Split(at + 1, end);
                    }
                }
            }
        }
    }
    Some(())
}

type Input<'a> = Peekable<Chars<'a>>;

fn alternatives(chars: &mut Input<'_>, depth: usize) -> Option<Tree> {
    if depth > 20 {
        return None;
    }
    let mut parts = vec![sequence(chars, depth)?];
    while chars.next_if_eq(&'|').is_some() {
        parts.push(sequence(chars, depth)?);
    }
    Some(Tree::Either(parts))
}

fn sequence(chars: &mut Input<'_>, depth: usize) -> Option<Tree> {
    let mut parts = Vec::new();
    while let Some(&c) = chars.peek() {
        if c == '|' || c == ')' {
            break;
        }
        chars.next();
        let part = match c {
            '^' => Tree::Start,
            '$' => Tree::End,
            '.' => Tree::One(Class {
                negated: true,
                ranges: vec![('\n', '\n')],
            }),
            '[' => Tree::One(class(chars)?),
            '(' => {
                if chars.next_if_eq(&'?').is_some() && chars.next() != Some(':') {
                    return None;
                }
                let inner = alternatives(chars, depth + 1)?;
                chars.next_if_eq(&')')?;
                inner
            }
            '\\' => Tree::One(escape(chars.next()?)?),
            '*' | '+' | '?' => return None,
            c => Tree::One(Class {
                negated: false,
                ranges: vec![(c, c)],
            }),
        };
        parts.push(repetition(part, chars)?);
    }
    Some(Tree::Sequence(parts))
}

fn repetition(part: Tree, chars: &mut Input<'_>) -> Option<Tree> {
    let (least, most) = match chars.peek() {
        Some('*') => (0, None),
        Some('+') => (1, None),
        Some('?') => (0, Some(1)),
        Some('{') => {
            chars.next();
            let mut text = String::new();
            while let Some(c) = chars.next_if(|&c| c != '}') {
                text.push(c);
            }
            let (least, most) = text.split_once(',').unwrap_or((&text, &text));
            let most = if most.is_empty() {
                None
            } else {
                Some(most.parse().ok()?)
            };
            (least.parse().ok()?, most)
        }
        _ => return Some(part),
    };
    chars.next();
    chars.next_if_eq(&'?');
    Some(Tree::Repeat(Box::new(part), least, most))
}

fn class(chars: &mut Input<'_>) -> Option<Class> {
    let negated = chars.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next()? {
            ']' if !ranges.is_empty() => return Some(Class { negated, ranges }),
            '\\' => {
                let inner = escape(chars.next()?)?;
                match inner.ranges[..] {
                    [(low, high)] if low == high && !inner.negated => low,
                    _ if inner.negated => return None,
                    _ => {
                        ranges.extend(inner.ranges);
                        continue;
                    }
                }
            }
            c => c,
        };
        let mut ahead = chars.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(high)) if high != ']' && high != '\\' => {
                *chars = ahead;
                high
            }
            _ => low,
        };
        ranges.push((low, high));
    }
}

fn escape(c: char) -> Option<Class> {
    let ranges = match c {
        'd' | 'D' => vec![('0', '9')],
        'w' | 'W' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        's' | 'S' => vec![(' ', ' '), ('\t', '\r')],
        'n' => vec![('\n', '\n')],
        'r' => vec![('\r', '\r')],
        't' => vec![('\t', '\t')],
        c if c.is_ascii_alphanumeric() => return None,
        c => vec![(c, c)],
    };
    Some(Class {
        negated: c.is_ascii_uppercase(),
        ranges,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_like_a_schema_does() {
        let check =
            |pattern: &str, text: &str| Pattern::new(pattern).map(|pattern| pattern.matches(text));
        assert_eq!(check("^a+$", "aaa"), Some(true));
        assert_eq!(check("^a+$", "aab"), Some(false));
        assert_eq!(check("b|^c", "abc"), Some(true));
        assert_eq!(check(r"^\d{4}-\d{2}$", "2024-07"), Some(true));
        assert_eq!(check(r"^\d{4}-\d{2}$", "2024-7"), Some(false));
        assert_eq!(check("^(?:ab?){2,}[^x-z]$", "aaba!"), Some(true));
        assert_eq!(check("^$", ""), Some(true));
        assert_eq!(check("1$", "x1"), Some(true));
        assert_eq!(check("(?=a)b", "b"), None);
        assert_eq!(check(r"\bword", "word"), None);
    }

    #[test]
    fn backtracking_patterns_take_linear_time() {
        let text = "a".repeat(5000);
        assert_eq!(
            Pattern::new("^(a*)*b$").map(|pattern| pattern.matches(&text)),
            Some(false)
        );
    }
}
