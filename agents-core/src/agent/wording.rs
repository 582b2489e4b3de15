//! Texts of agents: those that models are told first, then those that people are told.

use crate::tool::ErrorType;
use std::fmt::Display;

/// Returns names in backticks, with commas between them.
fn quoted(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

// ---- the choice of a skill ----

pub(super) const CHOOSE: &str =
    "You choose the skill that answers a request. Say its name and nothing else.";

/// Question to a model which skill shall answer. `before` is the end of the conversation, and empty at its beginning.
pub(super) fn which_skill(skills: &[(&str, String)], before: &str, task: &str) -> String {
    let lines = skills
        .iter()
        .map(|(name, description)| format!("- {name}: {description}\n"));
    let before = match before {
        "" => String::new(),
        before => format!("\nWhat was said before:\n{before}"),
    };
    format!(
        "Skills:\n{}{before}\nRequest: {task}\n\nWhich skill answers the request? Say its name and nothing else.",
        lines.collect::<String>()
    )
}

// ---- hand-offs and summaries ----

pub(super) const WHY_HANDED_OFF: &str = "Why, in one sentence.";
pub(super) const HANDED_OFF_ALREADY: &str = "the conversation was handed to another agent already";
pub(super) const SUMMARY_ASKED: &str = "What have we said so far, in short?";

pub(super) fn summed_up(summary: &str) -> String {
    format!(
        "[Earlier messages of this conversation were left out here. Summed up, they said:]\n{summary}"
    )
}

/// Description of the tool that hands the conversation to the agent `to`. `description` is that of the agent, and may
/// be empty.
pub(super) fn hands_off(to: &str, description: &str) -> String {
    match description {
        "" => format!("Hands the conversation to `{to}`, who answers instead of you."),
        said => format!("Hands the conversation to `{to}`, who answers instead of you: {said}"),
    }
}

pub(super) fn handed_back(to: &str) -> String {
    format!(
        "`{to}` had the conversation before you and handed it on; answer yourself, or hand it to another agent"
    )
}

pub(super) fn handed_off(to: &str) -> String {
    format!("The conversation is with `{to}` now, who answers.")
}

// ==== texts for people alone ====

pub(super) fn of_agent(agent: &str) -> String {
    format!("agent `{agent}`")
}

// ---- runs ----

pub(super) const WAITS_FOR_PEOPLE: &str = "the run waits for people";
pub(super) const WAITS_WITHOUT_JOURNAL: &str = "a run that ends when it waits needs a journal from which it goes on; give it one with `.journal(..)`";
pub(super) const WAITS_WITHIN_A_RUN: &str = "`until_waiting` is for the outermost run; a run within another one is awaited, and waits with it";
pub(super) const JOURNAL_OF_OTHER_INPUT: &str = "the journal belongs to a run with another input";

pub(super) fn journal_of_another(owner: &str, agent: &str) -> String {
    format!("the journal belongs to a run of agent `{owner}`, not of `{agent}`")
}

pub(super) fn run_over(agent: &str) -> String {
    format!("the run of which `{agent}` is a part is over")
}

pub(super) fn input_not_stored(error: &impl Display) -> String {
    format!("the input cannot be stored: {error}")
}

pub(super) fn input_lost(agent: &str) -> String {
    format!("the input of agent `{agent}` cannot be read back")
}

pub(super) fn stored_answer_misfits(agent: &str, error: &impl Display) -> String {
    format!("the stored answer of `{agent}` does not fit: {error}")
}

/// Text of the error of an input or an answer that cannot be serialised; `what` names which of the two.
pub(super) fn not_json(what: &str, agent: &str, error: &impl Display) -> String {
    format!("the {what} of agent `{agent}` cannot be written as JSON: {error}")
}

// ---- chats ----

pub(super) const NOTHING_UNFINISHED: &str =
    "there is no unfinished message to go on with; send one";

pub(super) fn unfinished_unreadable(error: &impl Display) -> String {
    format!("the unfinished message cannot be read: {error}")
}

pub(super) fn chat_of_other_format(found: u32, known: u32) -> String {
    format!("the stored conversation has format {found}; this version reads format {known}")
}

pub(super) fn chat_of_another(owner: &str, agent: &str) -> String {
    format!("the stored conversation was had with agent `{owner}`, not with `{agent}`")
}

pub(super) fn empty_summary(agent: &str) -> String {
    format!("agent `{agent}` has summed the conversation up to nothing")
}

// ---- skills ----

pub(super) const NAMED_NONE: &str = "the model has named none of them";
pub(super) const NO_SKILL_FOR_THIS: &str =
    "no skill takes this input; give another, or add a skill without `when`";
pub(super) const LEFT_FOR_A_SKILL: &str = "it left the conversation";
pub(super) const CALLED_FOR_A_SKILL: &str = "it made calls instead";

pub(super) fn stored_skill_missing(skill: &str) -> String {
    format!("the stored run has chosen `{skill}`, which is not among them")
}

pub(super) fn rerouted_skill_missing(skill: &str) -> String {
    format!("there is no `{skill}` to reroute to")
}

pub(super) fn condition_of(skill: &str) -> String {
    format!("the condition of `{skill}`")
}

pub(super) fn no_skill_chosen(skills: &[&str], why: &str) -> String {
    format!(
        "the model chose none of the skills {}: {why}",
        quoted(skills)
    )
}

pub(super) fn no_model_to_choose(agent: &str, skills: &[&str]) -> String {
    format!(
        "agent `{agent}` has no model to choose among its skills {}; give all of them but one a `when = |input| ..`, or name one with `#[agent(model = ..)]` or `AgentBuilder::model`, or give one to the whole run with `.run(..).model(..)`",
        quoted(skills)
    )
}

// ---- defects ----

pub(super) const QUESTION_IS_TAKEN: &str = "`About` of a runner has a field `question`, which is the argument of the bridge tool itself; rename the field";

/// Text of the error of an agent whose tools have a defect. `is_known` tells whether the agent's knowledge has the name
/// of a tool.
pub(super) fn tools_defect(agent: &str, defect: &impl Display, is_known: bool) -> String {
    match is_known {
        true => {
            format!("agent `{agent}`: {defect} (what an agent knows has a name among its tools)")
        }
        false => format!("agent `{agent}`: {defect}"),
    }
}

pub(super) fn arms_for_another_error(
    agent: &str,
    tool: &str,
    written_for: ErrorType,
    own: ErrorType,
) -> String {
    format!(
        "agent `{agent}` has `on_error` arms for `{tool}` that are written for errors of type `{written_for}`, but it fails with `{own}`"
    )
}

pub(super) fn arms_for_no_tool_or_delegate(agent: &str, tool: &str) -> String {
    format!(
        "agent `{agent}` has `on_error` arms for `{tool}`, which is neither among its tools nor a delegate of it"
    )
}

pub(super) fn arms_for_no_tool(
    agent: &str,
    tool: &str,
    written_for: ErrorType,
    of_delegates: ErrorType,
) -> String {
    format!(
        "agent `{agent}` has `on_error` arms for `{tool}`, which is not among its tools (arms for a delegate are written for `{of_delegates}`, and these for `{written_for}`)"
    )
}

pub(super) fn arms_for_a_body(agent: &str, skill: &str) -> String {
    format!(
        "agent `{agent}` has `on_error` arms for its skill `{skill}`, which has a body: no model makes calls there; remove the one or the other"
    )
}

pub(super) fn arms_for_no_skill(agent: &str, skill: &str) -> String {
    format!(
        "agent `{agent}` has `on_error` arms for the skill `{skill}`, which is not among its skills; correct the name, or remove them"
    )
}

pub(super) fn idle_memory(agent: &str) -> String {
    format!(
        "agent `{agent}` has a memory that none of its skills asks for; mark one `#[skill(memory)]`, or call `.with_memory()` on it"
    )
}

pub(super) fn two_skills(agent: &str, skill: &str) -> String {
    format!("agent `{agent}` has two skills called `{skill}`; rename one or remove it")
}

pub(super) const LISTS_TOOLS: &str = "lists tools";
pub(super) const ASKS_FOR_MEMORY: &str = "asks for the memory";
pub(super) const NAMES_A_PURPOSE: &str = "names a purpose";

/// Text of the error of a skill with a body that was given something for a model; `what` is one of the constants above.
pub(super) fn model_equipment_for_a_body(agent: &str, skill: &str, what: &str) -> String {
    format!(
        "skill `{skill}` of agent `{agent}` {what}, and it has a body: no model is there to use that; remove the one or the other"
    )
}

pub(super) fn no_memory(agent: &str, skill: &str) -> String {
    format!(
        "skill `{skill}` asks for the memory, and agent `{agent}` has none; give it one with `.memory(bank)`"
    )
}

/// Text of the error of a skill that lists a tool which the agent lacks. `is_name` tells whether the pattern is the
/// name of one tool.
pub(super) fn skill_lists_no_tool(
    agent: &str,
    skill: &str,
    pattern: &impl Display,
    is_name: bool,
) -> String {
    let what = match is_name {
        true => "tool",
        false => "tools by the pattern",
    };
    format!(
        "skill `{skill}` lists the {what} `{pattern}`, and agent `{agent}` has none; add it to the agent's tools, or remove it from the list"
    )
}

pub(super) const ARMS_FOR: &str = "`on_error` arms for";
pub(super) const POLICY_FOR: &str = "a policy for";

/// Text of the error of a pattern that fits no tool; `what` is one of the two constants above.
pub(super) fn idle_pattern(agent: &str, what: &str, pattern: &impl Display) -> String {
    format!(
        "agent `{agent}` has {what} `{pattern}`, which fits none of its tools; correct the pattern, or remove it"
    )
}

pub(super) fn hands_off_to_itself(agent: &str) -> String {
    format!("agent `{agent}` hands the conversation to itself; name other agents in `hand_off`")
}

pub(super) fn idle_hand_off(agent: &str, to: &str) -> String {
    format!(
        "agent `{agent}` can hand the conversation to `{to}`, but all of its skills have bodies, so no model decides that; call the agent from the body"
    )
}

pub(super) fn handed_off_to_a_stranger(agent: &str, to: &str) -> String {
    format!(
        "the conversation was handed to `{to}`, which is not among the hand-offs of agent `{agent}`"
    )
}

// ---- escalations ----

pub(super) mod left {
    //! Deeds of an agent in the place of its own work.

    pub(in super::super) fn for_a_skill(skill: &str) -> String {
        format!("turned to its skill `{skill}`")
    }

    pub(in super::super) fn for_an_agent(other: &str) -> String {
        format!("left the work to `{other}`")
    }

    pub(in super::super) const FOR_A_PARTIAL_RESULT: &str = "returned a partial result";

    /// Reason in the receipts of calls that ended because the agent left its work; `did` is one of the texts above.
    pub(in super::super) fn after_an_escalation(agent: &str, did: &str) -> String {
        format!("`{agent}` {did} after an escalation")
    }
}

pub(super) mod refused {
    //! A resolution that is not possible: what the agent wanted, and why it cannot have it.

    use std::fmt::Display;

    pub(in super::super) fn model(model: &str, most: u32) -> (String, String) {
        (
            format!("give the model `{model}`"),
            format!("the failed agent has gone on with {most} other models already"),
        )
    }

    pub(in super::super) fn panicked(panic: &impl Display) -> (String, String) {
        (
            "decide".to_owned(),
            format!("its `on_escalation` panicked: {panic}"),
        )
    }

    pub(in super::super) fn restart(count: u32) -> (String, String) {
        (
            "begin anew".to_owned(),
            format!("it has done so {count} times"),
        )
    }

    pub(in super::super) fn skill(skill: &str, why: String) -> (String, String) {
        (format!("turn to its skill `{skill}`"), why)
    }

    pub(in super::super) fn agent(other: &str, why: String) -> (String, String) {
        (format!("leave its work to `{other}`"), why)
    }

    pub(in super::super) fn partial_result(error: &impl Display) -> (String, String) {
        (
            "end with a partial result".to_owned(),
            format!("it cannot be written as JSON: {error}"),
        )
    }

    /// Text of the error of a handler that names an unknown skill; `meant` is the skill that has almost this name.
    pub(in super::super) fn no_such_skill(skills: &[&str], meant: Option<&str>) -> String {
        let known = super::quoted(skills);
        match (skills, meant) {
            ([], _) => "it has no skills".to_owned(),
            (_, None) => format!("it has none of that name; it has {known}"),
            (_, Some(meant)) => {
                format!("it has none of that name; it has {known}; did you mean `{meant}`?")
            }
        }
    }

    pub(in super::super) fn delegate_with_tool(agent: &str, tool: &str) -> String {
        format!(
            "that has the tool `{tool}`, which `{agent}` may not use freely; hand on a placed delegate (`agents::team::delegate`), or grant it"
        )
    }
}

/// Text of the error of a stored run whose replacement is gone; `what` is the agent or the partial result with which
/// the run went on.
pub(super) fn stale_replacement(agent: &impl Display, what: &str) -> String {
    format!(
        "the stored run of `{agent}` went on with {what} after an escalation, which is not there now"
    )
}
