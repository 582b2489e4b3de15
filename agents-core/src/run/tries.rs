//! What was tried for a call or an answer, as a receipt tells it: by whom, with what, and what came of it.

use crate::{
    recovery::{FixError, Progress, SANITIZE, Standing},
    run::{RepairKind, RepairStep, Repairs, in_short},
};
use serde::{Deserialize, Serialize};

/// A text that was given in place of what failed, and is at hand: it counts as used until it is given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Given {
    by: String,
    /// As much of it as a receipt shows.
    text: String,
    /// What it cost.
    #[serde(default)]
    tokens: u64,
    /// Why it cannot be used as it is; empty as long as nobody has found anything wrong with it.
    #[serde(default)]
    why: String,
}

impl Given {
    pub(crate) fn new(by: &str, text: &str, tokens: u64) -> Self {
        Given {
            by: by.to_owned(),
            text: in_short(text),
            tokens,
            why: String::new(),
        }
    }

    /// It was of no use as it is.
    pub(crate) fn failed(&mut self, why: &str) {
        if self.why.is_empty() {
            self.why = why.to_owned();
        }
    }

    /// What an arm said of it.
    pub(crate) fn remark(&mut self, said: &str) {
        self.why.push_str("; ");
        self.why.push_str(said);
    }

    /// It differs from the text before it in one value, so that it has not taken its place.
    pub(crate) fn is_one_value(&self) -> bool {
        self.by == SANITIZE
    }

    /// It is used in place of `what`, which was this text.
    pub(crate) fn used(&self, what: &str, was: &str) -> Repairs {
        let Given { by, tokens, .. } = self;
        let note = format!("`{by}` gave {what} anew{}", cost(*tokens));
        RepairStep::new(RepairKind::Fixed, "", note).was(was).into()
    }

    /// It is used for its value at `path`, where the text before it had this one, or none.
    pub(crate) fn used_at(&self, path: &str, was: Option<&str>) -> Repairs {
        let Given { by, tokens, .. } = self;
        let did = was.map_or("supplied", |_| "replaced");
        let note = format!("`{by}` {did} it{}", cost(*tokens));
        let change = RepairStep::new(RepairKind::Fixed, path, note);
        match was {
            Some(was) => change.was(was).into(),
            None => change.into(),
        }
    }

    /// It was tried, and is not used.
    pub(crate) fn in_vain(&self) -> Repairs {
        let Given {
            by,
            text,
            tokens,
            why,
        } = self;
        let mut note = format!("`{by}` tried `{text}` in vain{}", cost(*tokens));
        if !why.is_empty() {
            note.push_str(": ");
            note.push_str(why);
        }
        RepairStep::new(RepairKind::Tried, "", note).into()
    }
}

/// A failure for which a text was given, and how far its plan had come. When that text is of no use, this is what is
/// wrong still: nobody is told of a failure that only a repair has made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Unsettled<F> {
    pub(crate) text: String,
    pub(crate) failure: F,
    pub(crate) plan: Standing,
    /// How many texts were at hand, and how many changes had been told.
    at_hand: (usize, usize),
}

impl<F> Unsettled<F> {
    pub(crate) fn new(
        text: String,
        failure: F,
        progress: &mut Progress,
        given: &[Given],
        repairs: &Repairs,
    ) -> Self {
        Unsettled {
            text,
            failure,
            plan: progress.set_aside(),
            at_hand: (given.len(), repairs.len()),
        }
    }

    /// Nothing of what was given since is used.
    pub(crate) fn give_up_since(&self, repairs: &mut Repairs, given: &mut Vec<Given>) {
        let (given_before, repairs_before) = self.at_hand;
        let since = given.split_off(given_before.min(given.len()));
        give_up(repairs, repairs_before, since);
    }
}

/// Of the texts given, the last whole one is used, with the values that were put into it since; what it has
/// replaced is given up. Where among the changes that begins, if there is such a text.
pub(crate) fn give_up_replaced(
    repairs: &mut Repairs,
    outdated: usize,
    given: &mut Vec<Given>,
) -> Option<usize> {
    let used = given.iter().rposition(|given| !given.is_one_value())?;
    give_up(repairs, outdated, given.drain(..used).collect());
    let fixed =
        |(at, change): (usize, &RepairStep)| (change.kind == RepairKind::Fixed).then_some(at);
    repairs
        .iter()
        .enumerate()
        .filter_map(fixed)
        .rev()
        .nth(given.len() - 1)
}

/// A repair agent was asked and gave no text.
pub(crate) fn gave_none(fixer: &str, why: &FixError, tokens: u64) -> Repairs {
    let (did, why) = match why {
        FixError::Failed(why) => ("gave nothing of use".to_owned(), why),
        FixError::Unable(why) => ("cannot be asked".to_owned(), why),
        FixError::Escalated { reason, severity } => (format!("gave up ({severity})"), reason),
        FixError::Thrown(reason) => ("ended the run".to_owned(), reason),
    };
    let note = format!("`{fixer}` {did}{}: {why}", cost(tokens));
    RepairStep::new(RepairKind::Tried, "", note).into()
}

/// The tool may have taken effect already: nobody is asked for other arguments, nor are any used.
pub(crate) fn withheld(by: &str, text: Option<&str>) -> Repairs {
    let did = match text {
        Some(text) => format!("tried `{}` in vain", in_short(text)),
        None => "was not asked".to_owned(),
    };
    let note = format!(
        "`{by}` {did}: the tool writes and may have taken effect, so it is not run again with other arguments"
    );
    RepairStep::new(RepairKind::Tried, "", note).into()
}

/// A repair agent was asked, and what it was a part of ended before it answered.
pub(crate) fn cut_off_at_work(fixer: &str) -> Repairs {
    let note = format!("`{fixer}` was asked, and cut off before it answered");
    RepairStep::new(RepairKind::Tried, "", note).into()
}

/// Of what is at hand, the changes behind the first `outdated`, these texts are not used. What reading changed in
/// such a text is not worth telling; what it changed in the model's own is, and in one that is used.
pub(crate) fn give_up(repairs: &mut Repairs, outdated: usize, given: Vec<Given>) {
    let at_hand = repairs.0.split_off(outdated.min(repairs.len()));
    let mut given = given.into_iter();
    let mut is_used = true;
    for change in at_hand {
        match (change.kind, is_used) {
            (RepairKind::Fixed, _) => match given.next() {
                Some(given) => {
                    is_used = false;
                    repairs.extend(given.in_vain());
                }
                None => {
                    is_used = true;
                    repairs.0.push(change);
                }
            },
            (RepairKind::Tried, _) | (_, true) => repairs.0.push(change),
            (_, false) => {}
        }
    }
}

/// What the model of a repair agent cost, if one was asked.
fn cost(tokens: u64) -> String {
    match tokens {
        0 => String::new(),
        tokens => format!(" for {tokens} tokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::ChangeKind;

    fn change(kind: RepairKind, note: &str) -> RepairStep {
        RepairStep::new(kind, "", note)
    }

    #[test]
    fn what_is_given_up_was_tried_and_what_reading_made_of_it_is_forgotten() {
        let mut first = Given::new("fix", "{\"n\": \n\"four\",}", 0);
        first.failed("field `n`: no number");
        first.failed("what is found later says nothing about it");
        let second = Given::new("sanitize", &"9".repeat(300), 7);
        let mut repairs = Repairs(vec![
            change(RepairKind::Fixed, "used long ago"),
            change(RepairKind::Read(ChangeKind::Quotes), "the model's own"),
            change(RepairKind::Fixed, "given"),
            change(
                RepairKind::Read(ChangeKind::TrailingComma),
                "in what was given",
            ),
            change(RepairKind::Tried, "somebody else"),
            change(RepairKind::Fixed, "given on top"),
        ]);
        give_up(&mut repairs, 1, vec![first, second]);
        let told: Vec<_> = repairs.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "used long ago",
                "the model's own",
                "`fix` tried `{\"n\":  \"four\",}` in vain: field `n`: no number",
                "somebody else",
                &format!(
                    "`sanitize` tried `{}…` in vain for 7 tokens",
                    "9".repeat(200)
                ),
            ]
        );
        assert_eq!(repairs.0[2].kind, RepairKind::Tried);
    }
}
