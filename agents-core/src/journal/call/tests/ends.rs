//! Ends of a call: escalations, and work that is abandoned.

use super::*;

#[test]
fn what_was_handed_up_comes_back() {
    let climbing = [writes(), unreadable("rubbish"), planned([escalate()])];
    check(
        "another model goes on",
        &climbing,
        another_model(),
        "it failed: `pay` gave up (HIGH): it is stuck [you take over from the model that failed here: make the call again, correctly, if it is still needed]",
    );
    let (call, _) = after(&climbing);
    let Action::Climb(escalation) = call.next() else {
        panic!("it climbs")
    };
    check(
        "nobody could settle it",
        &climbing,
        climbed(Settlement::ReportedToModel, *escalation),
        "it failed: `pay` gave up (HIGH): it is stuck [no agent above handled this, so decide yourself how to go on]",
    );
    let executed = [
        writes(),
        fits(SENT),
        begun(),
        fails("no"),
        planned([escalate()]),
    ];
    check(
        "another model goes on where the tool may have taken effect",
        &executed,
        another_model(),
        "it failed: `pay` gave up (HIGH): it is stuck [you take over from the model that failed here: the tool has run, and may have taken effect though it failed, so find that out before making the call again]",
    );
}

#[test]
fn a_call_is_abandoned_with_what_it_is_a_part_of() {
    let ran = "it failed: the run ended: it was cut off while it ran";
    for (stage, so_far) in stages() {
        let leads_to = match stage {
            "new" | "read" | "execute" => "it failed: the run ended".to_owned(),
            "approve" => {
                "it failed: the run ended: it waited for approval, which was still open".into()
            }
            "running" => format!("{ran}, which changed nothing"),
            "interrupted" => "it failed: the run ended: the process ended while it ran, and whether it took effect is not known: find that out before calling it again".into(),
            "back off" | "sleep" => "it failed: the run ended".into(),
            "arms" | "repair" | "ends" => {
                "it failed: the arguments cannot be read: `rubbish` is no object".into()
            }
            "climb" => "it failed: `pay` gave up (HIGH): it is stuck".into(),
            _ => continue,
        };
        check(stage, &so_far, abandoned(), &leads_to);
    }
    check(
        "what its tool did to end that is what it gave",
        &[reads(), fits(SENT), begun(), did()],
        abandoned(),
        r#"it gave "handed up""#,
    );
    check(
        "a fix that waits to run does not",
        &[
            idempotent(),
            fits(SENT),
            begun(),
            fails("no"),
            planned([fix(r#"{"n":1}"#)]),
            fits(r#"{"n":1}"#),
        ],
        abandoned(),
        "it failed: no [the run ended]",
    );
}
