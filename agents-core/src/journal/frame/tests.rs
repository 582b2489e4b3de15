//! Table of a frame: the events so far, a budget, and the next action.

use super::{Frame, Next};
use crate::{
    model::{FinishReason, Reply, ToolCall},
    run::Budget,
};

/// Event in the life of an agent's frame, as a test writes it.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// The model replies with this number of calls.
    Calls(usize),
    /// The model replies with an answer.
    Says,
    /// All calls of the model's last reply have their receipts.
    Answered,
    /// The answer is refused, and goes back to the model with this reason.
    Refused(&'static str),
    /// The skill that answers for the agent is chosen.
    Chosen,
}

use Then::{Answered, Calls, Chosen, Refused, Says};

/// Returns the frame of an agent that was given its task.
fn begun() -> Frame {
    let mut frame = Frame::default();
    frame.begin(
        Default::default(),
        0,
        "You count.",
        Some("How many?".into()),
    );
    frame
}

fn after(mut frame: Frame, so_far: &[Then]) -> Frame {
    const LONGEST: usize = 1000;
    for then in so_far {
        match *then {
            Calls(count) => frame.replied(calling(count), LONGEST),
            Says => frame.replied(saying("about seven"), LONGEST),
            Answered => {
                frame.answered();
            }
            Refused(reason) => frame.refuse(reason.into(), false),
            Chosen => frame.chosen("count"),
        }
    }
    frame
}

fn saying(text: &str) -> Reply {
    Reply {
        content: text.into(),
        ..Reply::default()
    }
}

fn calling(count: usize) -> Reply {
    let call = |nth| ToolCall {
        id: format!("call-{nth}"),
        name: "look".into(),
        arguments: "{}".into(),
    };
    Reply {
        calls: (0..count).map(call).collect(),
        ..Reply::default()
    }
}

/// Returns a budget of this many turns and tool calls.
fn budget(turns: u32, calls: u32) -> Budget {
    Budget::new().max_turns(turns).max_tool_calls(calls)
}

/// Returns the next action of an agent, in words.
fn next(frame: &Frame, budget: &Budget) -> String {
    match frame.next(budget) {
        Next::Chat { turn, must_fit } => match must_fit {
            true => format!("ask for the answer in turn {turn}"),
            false => format!("ask in turn {turn}"),
        },
        Next::Calls => "carry out the calls".into(),
        Next::Background => "wait for the background".into(),
        Next::HandOff(to) => format!("hand off to {to}"),
        Next::Answer => "read the answer".into(),
        Next::Declined { why } => format!("end: {why}"),
        Next::Stop(limit) => format!("stop: {limit:?}"),
        Next::GiveUp { reason, limit } => format!("give up: {reason}; {limit}"),
    }
}

#[test]
fn a_model_that_declines_ends_the_work() {
    let declined = |reply: Reply| {
        let mut frame = begun();
        frame.replied(reply, 1_000);
        next(&frame, &budget(10, 10))
    };
    let refusal = Some("I cannot help".to_owned());
    let refused = Reply {
        refusal,
        ..saying("")
    };
    assert_eq!(
        declined(refused),
        "end: the model declined to answer: I cannot help"
    );
    let filtered = Reply {
        finish: FinishReason::Filter,
        ..saying("I")
    };
    assert_eq!(
        declined(filtered),
        "end: a filter of the provider withheld the reply"
    );
    assert_eq!(declined(saying("I cannot help")), "read the answer");
}

/// Checks one row: with this budget, the events so far lead to that action.
#[track_caller]
fn check(shows: &str, so_far: &[Then], budget: Budget, leads_to: &str) {
    let frame = after(begun(), so_far);
    assert_eq!(next(&frame, &budget), leads_to, "{shows}");
}

#[test]
fn the_model_is_asked_until_it_answers() {
    let row = |shows: &str, so_far: &[Then], leads_to: &str| {
        check(shows, so_far, budget(10, 10), leads_to);
    };
    row("the task is asked first", &[], "ask in turn 1");
    row("its calls come next", &[Calls(2)], "carry out the calls");
    row(
        "it is told what they gave",
        &[Calls(2), Answered],
        "ask in turn 2",
    );
    row("a reply without calls is read", &[Says], "read the answer");
    row(
        "so is one after calls",
        &[Calls(2), Answered, Says],
        "read the answer",
    );
}

#[test]
fn after_a_refusal_nothing_but_the_answer_is_asked_for_every_second_time() {
    let row = |shows: &str, so_far: &[Then], turns: u32, leads_to: &str| {
        check(shows, so_far, budget(turns, 10), leads_to);
    };
    let once = [Says, Refused("no number")];
    let twice = [once, once].concat();
    let thrice = [once, once, once].concat();
    row("the tools stay after the first", &once, 10, "ask in turn 2");
    row(
        "but not after the second in a row",
        &twice,
        10,
        "ask for the answer in turn 3",
    );
    row(
        "they are back after the third",
        &thrice,
        10,
        "ask in turn 4",
    );
    row(
        "nor where no turn is left for what they would say",
        &once,
        2,
        "ask for the answer in turn 2",
    );
    row(
        "the last turn is free if nothing was refused",
        &[Calls(1), Answered],
        2,
        "ask in turn 2",
    );
    let looked = [&once[..], &[Calls(1), Answered]].concat();
    row("a call mends what was refused", &looked, 3, "ask in turn 3");
    row(
        "and the refusals are counted anew",
        &[&looked[..], &once].concat(),
        10,
        "ask in turn 4",
    );
}

#[test]
fn the_turns_end() {
    let row = |shows: &str, so_far: &[Then], turns: u32, leads_to: &str| {
        check(shows, so_far, budget(turns, 10), leads_to);
    };
    row("none is none", &[], 0, "stop: Turns(0)");
    row(
        "the calls of the last turn are carried out",
        &[Calls(1)],
        1,
        "carry out the calls",
    );
    row("then it ends", &[Calls(1), Answered], 1, "stop: Turns(1)");
    row(
        "the answer of the last turn is read",
        &[Says],
        1,
        "read the answer",
    );
    row(
        "if it goes back, its reason is told",
        &[Says, Refused("no number")],
        1,
        "give up: no number; 1 turn is used up (`max_turns`)",
    );
    row(
        "of several reasons, the last",
        &[Says, Refused("no number"), Says, Refused("too large")],
        2,
        "give up: too large; 2 turns are used up (`max_turns`)",
    );
    row(
        "one from before a call is over",
        &[Says, Refused("no number"), Calls(1), Answered],
        2,
        "stop: Turns(2)",
    );
}

#[test]
fn the_tool_calls_end() {
    let row = |shows: &str, so_far: &[Then], calls: u32, leads_to: &str| {
        check(shows, so_far, budget(3, calls), leads_to);
    };
    row(
        "as many as there may be are not too many",
        &[Calls(2), Answered],
        2,
        "ask in turn 2",
    );
    row(
        "calls beyond them are answered",
        &[Calls(3)],
        2,
        "carry out the calls",
    );
    row(
        "then it ends",
        &[Calls(3), Answered],
        2,
        "stop: ToolCalls(2)",
    );
    row(
        "those of all replies count",
        &[Calls(2), Answered, Calls(1), Answered],
        2,
        "stop: ToolCalls(2)",
    );
    row(
        "an agent without calls may answer",
        &[Says],
        0,
        "read the answer",
    );
    check(
        "the calls are what it ends for if the turns are used up as well",
        &[Calls(3), Answered],
        budget(1, 2),
        "stop: ToolCalls(2)",
    );
}

#[test]
fn what_choosing_the_skill_took_counts() {
    let row = |shows: &str, so_far: &[Then], budget: Budget, leads_to: &str| {
        let mut choosing = begun();
        choosing.choosing = true;
        let frame = after(choosing, so_far);
        assert_eq!(next(&frame, &budget), leads_to, "{shows}");
    };
    row(
        "its turns",
        &[Says, Refused("none"), Says, Chosen],
        budget(3, 10),
        "ask in turn 3",
    );
    row(
        "up to the last",
        &[Says, Chosen],
        budget(1, 10),
        "stop: Turns(1)",
    );
    row(
        "its calls",
        &[Calls(1), Answered, Says, Chosen],
        budget(3, 0),
        "stop: ToolCalls(0)",
    );
    row(
        "a name that was refused is forgotten",
        &[Says, Refused("none"), Says, Refused("none"), Says, Chosen],
        budget(4, 10),
        "ask in turn 4",
    );
}

#[test]
fn a_conversation_that_is_handed_on_is_left_when_all_calls_are_answered() {
    let mut frame = after(begun(), &[Calls(2)]);
    assert!(frame.hand_off("refunds"));
    assert!(
        frame.hand_off("refunds"),
        "a call that runs again says so again"
    );
    assert!(!frame.hand_off("sales"), "there is one successor");
    assert_eq!(next(&frame, &budget(10, 10)), "carry out the calls");
    let frame = after(frame, &[Answered]);
    assert_eq!(next(&frame, &budget(10, 10)), "hand off to refunds");
    assert_eq!(
        next(&frame, &budget(1, 1)),
        "hand off to refunds",
        "its budget is not needed any more"
    );
}
