//! Tests of the state of a run: places, escalations, stops, a new process, and the working time.

use super::{After, Fact, Projection, Raiser, Replied, Started, State, Terms};
use crate::{
    Json, Severity,
    context::Settings,
    escalation::{Escalation, EscalationReceipt, Settlement},
    journal::{AnswerFact, CallFact, Called},
    model::{FinishReason, Reply, ToolCall, Usage},
    run::{Approval, ApprovalDecision, Limit, Stop, Timestamp},
    tool::Risk,
};
use std::{sync::Arc, time::Duration};

/// Run of a test, built fact by fact, with one second for each fact.
struct Run {
    state: State,
    projection: Projection,
    now: u64,
}

impl Run {
    fn new() -> Run {
        let mut run = Run {
            state: State::of(String::new(), "lead"),
            projection: Settings::default().projection(),
            now: 0,
        };
        run.add(
            0,
            Fact::Started(Box::new(Started {
                rules: Started::RULES,
                run_id: "run-1".into(),
                agent: "lead".into(),
                input: Json::string("go"),
                place: String::new(),
                key: None,
                terms: Terms::default(),
                began: Timestamp::default(),
                trace: None,
            })),
        );
        run
    }

    fn add(&mut self, place: u32, fact: Fact) -> After {
        self.now += 1000;
        let at = Timestamp::from_millis(self.now);
        let fact = serde_json::to_string(&fact).unwrap();
        let fact = serde_json::from_str(&fact).unwrap();
        self.state.fold(place, fact, at, &self.projection)
    }

    fn open(&mut self, above: u32, key: &str) -> u32 {
        let fact = Fact::Opened {
            key: key.into(),
            depth: 1,
            agent: Some("helper".into()),
        };
        self.add(above, fact).opened.unwrap()
    }

    fn raise(&mut self, place: u32) -> u64 {
        let raised = Fact::Raised {
            of: Raiser::Answer,
            escalation: Box::new(escalation()),
        };
        self.add(place, raised).number.unwrap()
    }

    /// Has the model of the agent at this place make this number of calls at once, and takes the calls up.
    fn call(&mut self, place: u32, calls: usize) {
        let calls = (0..calls).map(|n| ToolCall {
            id: format!("call_{n}"),
            name: "pay".into(),
            arguments: "{}".into(),
        });
        self.reply(place, "", calls.collect());
    }

    fn reply(&mut self, place: u32, content: &str, calls: Vec<ToolCall>) {
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 5,
            requests: 1,
            ..Usage::default()
        };
        let reply = Reply {
            content: content.into(),
            calls,
            finish: FinishReason::Stop,
            usage,
            ..Reply::default()
        };
        self.add(
            place,
            Fact::Replied(Box::new(Replied {
                reply,
                model: "planned".into(),
                cost: None,
                choosing: false,
                longest: 1000,
            })),
        );
    }

    fn of_call(&mut self, place: u32, seq: u32, fact: CallFact) -> After {
        self.add(place, Fact::Call { seq, fact })
    }

    fn written(&self) -> String {
        serde_json::to_string(&self.state).unwrap()
    }

    /// Checks that a fact that may not come here is ignored and changes nothing.
    #[track_caller]
    fn ignores(&mut self, shows: &str, place: u32, fact: Fact) {
        let before = self.written();
        assert!(self.add(place, fact).ignored, "{shows}");
        assert_eq!(self.written(), before, "{shows}");
    }
}

fn escalation() -> Escalation {
    Escalation::of_agent("helper", "it is stuck", Severity::High)
}

fn receipt(settled: Settlement) -> Box<EscalationReceipt> {
    let escalation = escalation();
    Box::new(EscalationReceipt {
        escalation,
        settled,
    })
}

fn budget() -> Stop {
    let (agent, limit) = ("lead".into(), Limit::Turns(3));
    Stop::Budget { agent, limit }
}

fn taken_up() -> CallFact {
    let tool = Some(Called {
        version: "1.0.0".into(),
        own_name: None,
        repeatable: false,
        window: None,
        writes: true,
        goes_on: false,
        reads: false,
        knowledge: false,
        polls: false,
        risk: Risk::Medium,
        effect: None,
        external: false,
        irreversible: false,
        has_undo: false,
        answers: None,
    });
    CallFact::TakenUp { tool }
}

fn fits(approval: bool) -> CallFact {
    let accepted = crate::journal::Accepted {
        args: Json::parse("{}").unwrap(),
        changes: crate::reader::Changes::default(),
        approval,
        reasons: Vec::new(),
        risk: None,
        known: Vec::new(),
        denied: None,
        because: None,
    };
    CallFact::Read(Ok(accepted))
}

#[test]
fn places_are_opened_below_one_another() {
    let mut run = Run::new();
    let call = run.open(0, "call0000.01");
    let helper = run.open(call, "helper#00.01");
    assert_eq!((call, helper), (1, 2));
    assert_eq!(
        run.state.path(helper).to_string(),
        "/call0000.01/helper#00.01"
    );
    assert_eq!(run.state.place(helper).level, 2);
    assert_eq!(run.state.place(call).call(), Some(0));
    assert_eq!(run.state.place(helper).call(), None);
    // Tokens used below count above.
    run.call(helper, 1);
    let tokens: Vec<_> = run.state.places.iter().map(|place| place.tokens).collect();
    assert_eq!(tokens, [15, 15, 15]);
    assert_eq!(run.state.tokens_within(0, 0), 15);
    assert_eq!(run.state.calls_within(0, 0), 1);
    // An agent that has its answer keeps the answer, and not the state that led to it.
    let result = Json::string("helped");
    run.add(helper, Fact::Done { result });
    let place = run.state.place(helper);
    assert!(place.frame.is_none());
    assert_eq!(place.result.as_ref().map(Json::as_str), Some(r#""helped""#));
    run.add(call, Fact::Partial);
    assert!(run.state.place(call).partial);
    run.add(call, Fact::Anew);
    assert!(!run.state.place(call).partial);
}

#[test]
fn the_calls_of_a_reply_are_answered_when_all_have_their_receipts() {
    let mut run = Run::new();
    run.call(0, 2);
    for seq in [1, 0] {
        run.of_call(0, seq, taken_up());
        run.of_call(0, seq, fits(false));
        let result = Ok(Json::string("paid"));
        run.of_call(0, seq, CallFact::Begun { intent: None });
        let partial = false;
        run.of_call(0, seq, CallFact::Ended { result, partial });
        let settled = run.add(0, Fact::Settled { seq });
        assert!(settled.receipt.is_some_and(|receipt| receipt.is_ok()));
        let open = run
            .state
            .place(0)
            .frame
            .as_ref()
            .map(|frame| frame.calls.len());
        assert_eq!(open, Some(if seq == 1 { 2 } else { 0 }));
    }
    assert_eq!(run.state.receipts(0).len(), 2);
    run.ignores("a call is settled once", 0, Fact::Settled { seq: 0 });
    let fact = taken_up();
    run.ignores(
        "a call that was answered is gone",
        0,
        Fact::Call { seq: 0, fact },
    );
}

#[test]
fn a_fact_about_what_is_not_there_changes_nothing() {
    let mut run = Run::new();
    let of_call = || Fact::Call {
        seq: 0,
        fact: taken_up(),
    };
    let of_answer = || Fact::Answer(AnswerFact::Planned(None));
    run.ignores("no conversation, no call", 0, of_call());
    run.ignores("no conversation, no answer", 0, of_answer());
    run.ignores("no conversation, no receipt", 0, Fact::Settled { seq: 0 });
    run.call(0, 1);
    run.ignores("no answer while there are calls", 0, of_answer());
    run.ignores("no receipt of another call", 0, Fact::Settled { seq: 7 });
    let fact = CallFact::Woke;
    run.ignores(
        "what does not belong to the stage",
        0,
        Fact::Call { seq: 0, fact },
    );
    let why = "it was dropped".to_owned();
    run.ignores(
        "no escalation, none dropped",
        0,
        Fact::Dropped { number: 1, why },
    );
}

#[test]
fn an_escalation_is_raised_once_and_settled_once() {
    let why = || "its work was dropped".to_owned();
    let mut run = Run::new();
    let place = run.open(0, "helper#00.01");

    let handled = run.raise(place);
    let reached = Escalation {
        path: vec!["helper".into(), "lead".into()],
        ..escalation()
    };
    let number = handled;
    run.add(
        place,
        Fact::Reached {
            number,
            escalation: Box::new(reached),
        },
    );
    assert_eq!(run.state.open[0].escalation.path, ["helper", "lead"]);
    let after = run.add(place, handled_now(number));
    assert_eq!(after.receipts.len(), 1);
    assert_eq!((run.state.open.len(), run.state.settled.len()), (0, 1));
    run.ignores("handled twice", place, handled_now(number));
    run.ignores("dropped then", place, Fact::Dropped { number, why: why() });

    let number = run.raise(place);
    assert_eq!(number, 2);
    let after = run.add(place, Fact::Dropped { number, why: why() });
    assert!(matches!(
        after.receipts[0].settled,
        Settlement::Dropped { .. }
    ));

    let number = run.raise(place);
    run.add(place, decided(number));
    assert_eq!(
        run.state.settled.len(),
        2,
        "it comes true when the model is asked"
    );
    let model: Arc<str> = "planned".into();
    let after = run.add(place, Fact::Asked { model, offer: 0 });
    assert_eq!(after.receipts.len(), 1);
    assert_eq!(run.state.settled.len(), 3);

    let number = run.raise(place);
    run.add(place, decided(number));
    let after = run.add(place, Fact::Void { why: why() });
    assert!(matches!(
        after.receipts[0].settled,
        Settlement::Dropped { .. }
    ));
    assert_eq!(run.state.settled.len(), 4);

    run.add(0, Fact::Over);
    let raised = Fact::Raised {
        of: Raiser::Answer,
        escalation: Box::new(escalation()),
    };
    run.ignores("nothing is raised when the run is over", place, raised);
}

fn decided_as(number: u64, settled: Settlement) -> Fact {
    Fact::Decided {
        number,
        receipt: receipt(settled),
        partial: None,
    }
}

fn handled_now(number: u64) -> Fact {
    decided_as(number, Settlement::Ended)
}

fn decided(number: u64) -> Fact {
    decided_as(number, Settlement::ReportedToModel)
}

#[test]
fn the_first_stop_counts_and_is_told_up_to_its_level() {
    let mut run = Run::new();
    let call = run.open(0, "call0000.01");
    let helper = run.open(call, "helper#00.01");
    let stop = budget();
    run.add(helper, Fact::Stopped { level: 1, stop });
    let ended: Vec<_> = run
        .state
        .places
        .iter()
        .map(|place| place.ended_run)
        .collect();
    assert_eq!(ended, [true, true, false], "here is above the level");
    assert!(run.state.ended_within(0, 0));
    let later = Stop::Cancelled;
    run.add(
        helper,
        Fact::Stopped {
            level: 9,
            stop: later,
        },
    );
    assert!(matches!(run.state.stop, Some(Stop::Budget { .. })));
}

#[test]
fn a_new_process_goes_on_where_the_one_before_was() {
    let mut run = Run::new();
    run.call(0, 1);
    run.of_call(0, 0, taken_up());
    run.of_call(0, 0, fits(false));
    run.of_call(0, 0, CallFact::Begun { intent: None });
    run.raise(0);
    run.add(0, Fact::StoppedFromOutside(Stop::Cancelled));
    run.add(0, Fact::Over);
    run.add(0, Fact::Resumed);
    assert!(run.state.open.is_empty(), "it is raised again");
    assert!(run.state.stop.is_none() && !run.state.over);
    let stage = serde_json::to_string(&run.state).unwrap();
    assert!(stage.contains(r#""stage":{"Interrupted""#), "{stage}");
}

#[test]
fn a_new_process_ends_a_run_that_had_come_to_its_end() {
    let mut run = Run::new();
    run.raise(0);
    let stop = budget();
    run.add(0, Fact::Stopped { level: 0, stop });
    run.add(0, Fact::Over);
    run.add(0, Fact::Resumed);
    assert!(matches!(run.state.stop, Some(Stop::Budget { .. })));
    assert_eq!(run.state.open.len(), 1, "it is dropped with the run");
}

#[test]
fn time_is_worked_but_not_while_a_person_is_asked_nor_while_there_is_no_process() {
    let mut run = Run::new();
    run.call(0, 2);
    for seq in [0, 1] {
        run.of_call(0, seq, taken_up());
        run.of_call(0, seq, fits(true));
    }
    assert_eq!(run.state.worked, 5000, "a second for each fact");
    run.of_call(0, 0, CallFact::Asked);
    run.of_call(0, 1, CallFact::Asked);
    assert_eq!(run.state.worked, 6000, "until the first person is asked");
    let decided = || CallFact::Decided {
        decided: ApprovalDecision::from(Approval::Approve),
        took: Duration::ZERO,
        reason: None,
    };
    run.of_call(0, 0, decided());
    run.add(0, Fact::Partial);
    assert_eq!(run.state.worked, 6000, "the other is still asked");
    run.of_call(0, 1, decided());
    assert_eq!(run.state.worked, 6000);
    run.add(0, Fact::Anew);
    assert_eq!(run.state.worked, 7000);
    run.now += 1_000_000;
    run.add(0, Fact::Resumed);
    assert_eq!(run.state.worked, 7000, "nobody has worked meanwhile");
    run.add(0, Fact::Partial);
    assert_eq!(run.state.worked, 8000);

    let mut asked = Run::new();
    asked.call(0, 1);
    asked.of_call(0, 0, taken_up());
    asked.of_call(0, 0, fits(true));
    asked.of_call(0, 0, CallFact::Asked);
    let before = asked.state.worked;
    asked.add(0, Fact::Resumed);
    asked.add(0, Fact::Partial);
    assert_eq!(
        asked.state.worked,
        before + 1000,
        "nobody is asked any more"
    );
}
