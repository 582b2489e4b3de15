//! Texts of a call: those that models are told first, then those that receipts alone have.

use std::fmt::Display;

// ---- approvals ----

pub(super) fn denied(reason: &str) -> String {
    format!("not approved: {reason}")
}

pub(super) fn to_be_revised(note: &str) -> String {
    format!("not approved as it is: {note}; change the call and make it again")
}

pub(super) fn edit_misread(error: &impl Display) -> String {
    format!("not approved: the approver gave other arguments, which do not fit: {error}")
}

// ---- questions ----

/// Denial of an approval for a call that asks a question.
pub(super) const NEEDS_AN_ANSWER: &str = "nobody has answered the question: the approver approved the call, and a question needs an answer (`Approval::answer(..)`)";

/// Denial of an answer to a call that asks no question.
pub(super) const ASKS_NOTHING: &str =
    "not approved: the approver gave an answer, and the call asks no question";

pub(super) fn unanswered(reason: &str) -> String {
    format!("nobody has answered the question: {reason}")
}

pub(super) fn to_be_asked_otherwise(note: &str) -> String {
    format!("nobody has answered the question as it is: {note}; change the question and ask again")
}

// ---- calls in the background ----

/// Text that the model gets in place of the result of a call in the background: the name of the ticket, and what to do.
pub(super) fn ticket(name: &str, until_answer: bool) -> String {
    let end = match until_answer {
        true => "It is cancelled when you give your answer.",
        false => {
            "If nothing is left to do but to wait for it, say so: your answer is asked for again once it is there."
        }
    };
    format!(
        "This goes on in the background, with the ticket `{name}`. Its result will come as a message, so do not call it again for that. {end}"
    )
}

/// Message with the result of a call that was in the background.
pub(super) fn result_of_ticket(tool: &str, ticket: &str, result: &str) -> String {
    format!("[Result of `{tool}`, ticket `{ticket}`]\n{result}")
}

// ---- remarks on a result ----

/// Remark on the default answer of a question.
pub(super) const BY_DEFAULT: &str =
    "nobody has answered in time, so this is the default and not the user's word";

pub(super) const PARTIAL: &str = "this result is partial: the work could not be completed";

/// Remark for a model whose call was escalated, if the escalation was not handled.
pub(super) const UNSETTLED: &str = "no agent above handled this, so decide yourself how to go on";

/// Remark for a model that takes over from the one that made the call.
pub(super) const TAKEN_OVER: &str = "you take over from the model that failed here: make the call again, correctly, if it is still needed";

/// Remark for a model that takes over from the one that made the call, if the tool has run and may have had an effect
/// that must not happen twice.
pub(super) const TAKEN_OVER_IN_DOUBT: &str = "you take over from the model that failed here: the tool has run, and may have taken effect though it failed, so find that out before making the call again";

/// Remark for a model whose call an arm would have changed, if the tool had not run already.
pub(super) const WITHHELD: &str =
    "it was not run again with other arguments, since that could have done it twice";

/// Remark beside the failure of an execution, if a rate limiter refused another one.
pub(super) const HELD_BACK: &str = "it was to run again, but the rate limit refused that";

/// Remark that the tool has run; `error` is the error of an execution that may have taken effect.
pub(super) fn has_run(error: &str) -> String {
    format!("it has run: {error}")
}

// ---- calls that did not end ----

pub(super) const PROCESS_ENDED: &str = "the process ended while it ran";
pub(super) const PROCESS_ENDED_WITHOUT_EFFECT: &str =
    "the process ended while it ran; it had no effect";
pub(super) const INTERRUPTED: &str = "the run was interrupted";
pub(super) const NOT_DEALT_WITH: &str = "the call could not be dealt with";

pub(super) fn dealing_panicked(panic: &str) -> String {
    format!("dealing with it panicked: {panic}")
}

/// Reason for the end of a call that waited for its approval; `why` is the reason for which the work around it ended.
pub(super) fn undecided(why: &str) -> String {
    format!("{why}: it waited for approval, which was still open")
}

/// Text of the error of an execution that was begun and did not end; `calls` is the number of calls that were made
/// within the execution.
pub(super) fn cut_off(why: &str, calls: usize, writes: bool) -> String {
    let known = match calls {
        0 if writes => ", and whether it took effect is not known".to_owned(),
        0 => ", which changed nothing".to_owned(),
        1 => "; the call within it has a receipt, the rest is not known".to_owned(),
        calls => format!("; the {calls} calls within it have receipts, the rest is not known"),
    };
    format!("{why}: it was cut off while it ran{known}")
}

// ==== texts of receipts alone ====

pub(super) mod repairs {
    //! Notes on repairs. The author of a repair, `by`, is an arm, a verb or a repair agent.

    use crate::recovery::FixError;

    pub(in super::super) const ARGUMENTS: &str = "the arguments";
    pub(in super::super) const ANSWER: &str = "the answer";

    /// Returns the words for the tokens that a repair agent used; empty if no model was asked.
    fn cost(tokens: u64) -> String {
        match tokens {
            0 => String::new(),
            tokens => format!(" for {tokens} tokens"),
        }
    }

    /// Receipt's line of a text that a repair gave in place of another; `what` is one of the two constants above.
    pub(in super::super) fn text_given(by: &str, what: &str, tokens: u64) -> String {
        format!("`{by}` gave {what} anew{}", cost(tokens))
    }

    /// Receipt's line of one value that a repair gave. `had_value` tells whether the field had a value before.
    pub(in super::super) fn value_given(by: &str, had_value: bool, tokens: u64) -> String {
        let did = match had_value {
            true => "replaced",
            false => "supplied",
        };
        format!("`{by}` {did} it{}", cost(tokens))
    }

    /// Receipt's line of a text that was tried in vain; `why` is empty if there is no reason.
    pub(in super::super) fn tried_in_vain(by: &str, text: &str, tokens: u64, why: &str) -> String {
        let said = format!("`{by}` tried `{text}` in vain{}", cost(tokens));
        match why {
            "" => said,
            why => format!("{said}: {why}"),
        }
    }

    pub(in super::super) fn gave_nothing(by: &str, why: &FixError, tokens: u64) -> String {
        let did = match why {
            FixError::Failed(_) => "gave nothing of use".to_owned(),
            FixError::Unable(_) => "cannot be asked".to_owned(),
            FixError::Escalated { severity, .. } => format!("gave up ({severity})"),
            FixError::Thrown(_) => "ended the run".to_owned(),
        };
        format!("`{by}` {did}{}: {}", cost(tokens), why.reason())
    }

    /// Receipt's line of a repair that was not used, since the tool may have run. `text` is the text that a verb gave;
    /// a repair agent was not asked for one.
    pub(in super::super) fn withheld(by: &str, text: Option<&str>) -> String {
        let did = match text {
            Some(text) => format!("tried `{text}` in vain"),
            None => "was not asked".to_owned(),
        };
        format!(
            "`{by}` {did}: the tool writes and may have taken effect, so it is not run again with other arguments"
        )
    }

    pub(in super::super) fn cut_off(by: &str) -> String {
        format!("`{by}` was asked, and cut off before it answered")
    }
}
