//! Defects of teams: all of them are reported before a run, each with the path to its agent.

use super::*;
use crate::world::scripted_model;

/// Returns the defects of a team, without the first line of the message.
fn defects<A>(team: &Team<A>) -> Vec<String> {
    match team.check() {
        Ok(()) => Vec::new(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Build);
            let lines = error.message().lines().skip(1);
            lines.map(|line| line.trim_start().to_owned()).collect()
        }
    }
}

#[track_caller]
fn one<A>(team: &Team<A>, expected: &str) {
    assert_eq!(defects(team), [expected]);
}

#[tokio::test]
async fn all_at_once_and_before_the_first_model_is_asked() {
    let (boss, led) = lead([]);
    let team = Member::new(boss)
        .budget(tokens(100))
        .delegate(
            Member::new(idle("master"))
                .grant::<Compile>()
                .grant_named("compil")
                .confirm::<Compile>()
                .delegate(
                    Member::new(idle("coder"))
                        .grant::<Deploy>()
                        .budget(tokens(200)),
                )
                .delegate(Member::new(idle("tester")).grant_nothing()),
        )
        .delegate(Member::new(idle("coder")).grant_named("mpc_*"))
        .build();
    let outcome = team.run("go").outcome().await;
    assert_eq!(led.count(), 0);
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message(),
        "the team of `lead` cannot work as it is put together:
  lead / master: there is no tool `compil` here or below; did you mean `compile`?
  lead / master: `compile` is both granted and confirmed; keep one
  lead / master / coder: `deploy` is beyond what `master` is granted; grant it there as well, or leave it out here
  lead / master / coder: its budget of 200 tokens is above that of `lead`, 100 tokens; allow at most as much
  lead / coder: agent `coder` is placed twice, the other time as `lead / master / coder`; place it once, or give one of them another name
  lead / coder: no tool here or below has a name like `mpc_*`; correct the pattern, or remove it"
    );
}

#[test]
fn grants_are_handed_down_and_never_widened() {
    // A grant through an agent without grants, and by an agent that lacks the tool itself.
    let bare: Plain = AgentBuilder::new("bare").build();
    let team = structure!(
        idle("top")
            .grants([Compile, RunTests])
            .delegates(bare.delegates(idle("coder").grants([Compile])))
    );
    assert_eq!(defects(&team), [""; 0]);
    let bare: Plain = AgentBuilder::new("bare").build();
    let team = Member::new(idle("top"))
        .grant::<Compile>()
        .delegate(
            Member::new(bare).delegate(
                Member::new(idle("coder"))
                    .confirm::<Deploy>()
                    .grant_nothing(),
            ),
        )
        .build();
    one(
        &team,
        "top / bare / coder: `deploy` is beyond what `top` is granted; grant it there as well, or leave it out here",
    );
    let team = structure!(
        idle("top")
            .grants([Compile, WriteFile, RunTests])
            .delegates(idle("coder"))
    );
    one(
        &team,
        "top / coder: nothing was granted to it, so it has all its tools, and `deploy` is beyond what `top` is granted; say which it may use with `grants`",
    );
    // A parent without grants sets no bound.
    let team = structure!(idle("top").delegates(idle("coder").grants([Deploy])));
    assert_eq!(defects(&team), [""; 0]);
    let team = Member::new(idle("top"))
        .grant_named("*")
        .delegate(Member::new(idle("coder")).grant::<Deploy>())
        .build();
    assert_eq!(defects(&team), [""; 0]);
    let team = Member::new(idle("top"))
        .grant_named("comp*")
        .delegate(Member::new(idle("coder")).grant_named("*"))
        .build();
    one(
        &team,
        "top / coder: `*` is beyond what `top` is granted; grant it there as well, or leave it out here",
    );
}

#[test]
fn confirmation_is_not_shed_by_asking_somebody_below() {
    let team = Member::new(idle("top"))
        .grant::<Compile>()
        .confirm::<Deploy>()
        .delegate(
            Member::new(idle("coder"))
                .grant::<Compile>()
                .grant::<Deploy>(),
        )
        .delegate(Member::new(idle("ops")).grant_nothing().confirm::<Deploy>())
        .build();
    one(
        &team,
        "top / coder: `top` has `deploy` with confirmation only; confirm it here as well",
    );
}

#[test]
fn what_is_granted_and_confirmed() {
    let team = Member::new(idle("top"))
        .grant_named("*")
        .confirm::<Deploy>()
        .build();
    assert_eq!(
        defects(&team),
        [""; 0],
        "a part of what is granted may be confirmed"
    );
    let team = Member::new(idle("top"))
        .grant::<Deploy>()
        .confirm_named("de*")
        .build();
    one(
        &team,
        "top: `deploy` is both granted and confirmed; keep one",
    );
}

#[test]
fn names_that_a_model_could_not_tell_apart() {
    let deploy: Plain = AgentBuilder::new("deploy").build();
    let team = structure!(idle("top").delegates(deploy));
    one(
        &team,
        "top: its delegate `deploy` has the name of another of its tools; rename one of them",
    );
    let deploy: Plain = AgentBuilder::new("deploy").build();
    let team = structure!(idle("top").grants([Compile]).delegates(deploy));
    assert_eq!(defects(&team), [""; 0], "the tool is not granted");
    let twice: Plain = AgentBuilder::new("twice")
        .tool(Compile)
        .tool(Compile)
        .build();
    one(
        &structure!(twice),
        "twice: agent `twice`: two tools are called `compile`; rename one or remove it",
    );
    // An agent below itself.
    let team = structure!(idle("top").delegates(idle("top")));
    one(
        &team,
        "top / top: agent `top` is placed twice, the other time as `top`; place it once, or give one of them another name",
    );
}

#[test]
fn budgets_that_could_never_be_used_up() {
    let below = |budget| {
        let team =
            Member::new(idle("top")).budget(tokens(100).time(minutes(1)).depth(3).max_recursion(9));
        defects(
            &team
                .delegate(
                    Member::new(idle("mid")).delegate(Member::new(idle("low")).budget(budget)),
                )
                .build(),
        )
    };
    assert_eq!(
        below(
            tokens(100)
                .time(minutes(1))
                .depth(3)
                .max_recursion(9)
                .max_turns(50)
        ),
        [""; 0]
    );
    assert_eq!(
        below(tokens(101).time(minutes(2)).depth(4).max_recursion(10)),
        [
            "top / mid / low: its budget of 101 tokens is above that of `top`, 100 tokens; allow at most as much",
            "top / mid / low: its budget of 2 min is above that of `top`, 1 min; allow at most as much",
            "top / mid / low: its budget of 4 deep is above that of `top`, 3 deep; allow at most as much",
            "top / mid / low: its budget of 10 steps is above that of `top`, 9 steps; allow at most as much",
        ]
    );
}

#[test]
fn what_would_come_to_nobody() {
    let team = structure!(
        idle("a")
            .then(idle("b"))
            .grants([Compile])
            .delegates(idle("c").grants([Compile]))
    );
    one(
        &team,
        "a > b: it is composed of other agents, and what is granted at its place reaches none of them; grant it to the part that is meant: `a.then(structure!(b.grants([..])))`",
    );
    let sub = structure!(idle("sub").grants([Compile]));
    let team = structure!(idle("top").delegates(sub.grants([Deploy])));
    one(
        &team,
        "top / sub: it is a team of its own; set its grants, its confirmations and its delegates where that team is put together",
    );
    // Defects inside the part are found as well.
    let sub = Member::new(idle("sub"))
        .grant_named("compil")
        .delegate(Member::new(idle("low")).grant_named("x"));
    let team = Member::new(idle("top")).delegate(sub.build()).build();
    assert_eq!(
        defects(&team),
        [
            "top / sub: there is no tool `compil` here or below; did you mean `compile`?",
            "top / sub / low: there is no tool `x` here or below, only `compile`, `deploy`, `run_tests`, `write_file`; add it to the agent's `tools`",
            "top / sub / low: `x` is beyond what `sub` is granted; grant it there as well, or leave it out here",
        ]
    );
    // The tools of the parts count, too.
    let team = structure!(
        idle("top")
            .grants([Compile, RunTests, WriteFile])
            .delegates(idle("a").then(idle("b")))
    );
    assert_eq!(defects(&team).len(), 1, "{:?}", defects(&team));
    assert!(defects(&team)[0].contains("`deploy` is beyond what `top` is granted"));
}

#[test]
fn an_agent_written_by_hand_says_what_it_has() {
    use agents::{agent::Profile, run::RunContext};
    struct Hand;
    #[agents::async_trait]
    impl Agent for Hand {
        type In = String;
        type Out = String;
        fn name(&self) -> &str {
            "hand"
        }
        fn profile(&self) -> Profile {
            Profile::new()
                .tool("compile", agents::Effects::None)
                .skill("ship", Some(vec!["compile".into(), "deploy".into()]))
        }
        async fn work(&self, _: &RunContext, input: String) -> Result<String, Error> {
            Ok(input)
        }
    }
    assert_eq!(defects(&structure!(Hand)), [""; 0]);
    one(
        &structure!(Hand.grants([Compile])),
        "hand: its skill `ship` needs the tool `deploy`, which is not granted; grant it",
    );
}

#[tokio::test]
async fn what_an_agent_says_of_itself_is_found_with_the_way_to_it() {
    let twice = |name: &'static str| -> Plain {
        tooled(name)
            .skill(Skill::model("work", "Works.").tools(["coder"]))
            .skill(Skill::model("work", "Works, too."))
            .build()
    };
    let two_skills = "agent `twice` has two skills called `work`; rename one or remove it";
    let lists = "skill `work` lists the tool `coder`, and agent `twice` has none; add it to the agent's tools, or remove it from the list";
    assert_eq!(
        defects(&structure!(idle("top").delegates(twice("twice")))),
        [
            format!("top / twice: {lists}"),
            format!("top / twice: {two_skills}"),
        ]
    );
    // A skill may list a delegate of its agent, so one defect is left. A part of a composition is checked as well.
    one(
        &structure!(idle("top").delegates(twice("twice").delegates(idle("coder")))),
        &format!("top / twice: {two_skills}"),
    );
    assert_eq!(
        defects(&structure!(
            idle("top").delegates(twice("twice").then(idle("b")))
        )),
        [
            format!("top / twice > b: {lists}"),
            format!("top / twice > b: {two_skills}"),
        ]
    );
}

#[test]
fn bounds_that_would_come_to_nobody() {
    let whole = || idle("a").then(idle("b"));
    let bounds = |bound: &str| {
        format!(
            "a > b: it is composed of other agents, and a bound of {bound} reaches none of them; bound the part that is meant: `a.then(structure!(b.budget(..)))`, or bound what they share, such as tokens and time"
        )
    };
    let team = Member::new(whole()).budget(tokens(9).max_turns(1).max_tool_calls(2));
    one(&team.build(), &bounds("1 turn, 2 tool calls"));
    let team = Member::new(whole()).budget(Budget::new().max_recursion(3));
    one(&team.build(), &bounds("3 steps"));
    // A team does not help either.
    let team = Member::new(Member::new(whole()).build()).budget(Budget::new().max_turns(1));
    one(&team.build(), &bounds("1 turn"));
    let part = Member::new(idle("b"))
        .budget(Budget::new().max_turns(1))
        .build();
    let team = Member::new(idle("a").then(part)).budget(tokens(9)).build();
    assert_eq!(defects(&team), [""; 0]);
}

#[tokio::test]
async fn what_a_part_would_say_when_it_runs_is_said_when_it_is_put_together() {
    let broken = |name: &'static str| -> Plain {
        tooled(name)
            .tool(Compile)
            .on_error_of::<std::io::Error>("compiel", |_, _| None)
            .on_error_of::<std::io::Error>("deploy", |_, _| None)
            .on_error_of::<Error>("helper", |_, _| None)
            .build()
    };
    let (twice, stray, of_another, helper) = (
        "agent `broken`: two tools are called `compile`; rename one or remove it",
        "agent `broken` has `on_error` arms for `compiel`, which is not among its tools (arms for a delegate are written for `agents_core::error::Error`, and these for `std::io::error::Error`)",
        "agent `broken` has `on_error` arms for `deploy` that are written for errors of type `std::io::error::Error`, but it fails with `core::convert::Infallible`",
        "agent `broken` has `on_error` arms for `helper`, which is neither among its tools nor a delegate of it",
    );
    let all = [twice, stray, of_another, helper];
    let at = |path: &str, expected: &[&str]| -> Vec<String> {
        let told = expected.iter().map(|defect| format!("{path}: {defect}"));
        told.collect()
    };
    assert_eq!(
        defects(&structure!(idle("top").delegates(broken("broken")))),
        at("top / broken", &all)
    );
    assert_eq!(
        defects(&structure!(
            idle("top").delegates(broken("broken").delegates(idle("helper")))
        )),
        at("top / broken", &all[..3])
    );
    let part = broken("broken").then(idle("b"));
    assert_eq!(
        defects(&structure!(idle("top").delegates(part))),
        at("top / broken > b", &all)
    );
    // The defect is also found without a team, before the first part has asked its model.
    let (first, asked) = lead([]);
    let both = first.then(broken("broken"));
    let error = both.run("go").model(scripted_model([])).await;
    let error = error.unwrap_err();
    assert!(error.kind() == ErrorKind::Build && asked.count() == 0);
    assert_eq!(error.message(), all.join("; "));
    let team = Member::new(idle("top"))
        .grant::<Deploy>()
        .delegate(Member::new(idle("below")).grant::<Compile>())
        .build();
    let (first, asked) = lead([]);
    let error = (first, team).run("go").await.unwrap_err();
    assert!(error.kind() == ErrorKind::Build && asked.count() == 0);
    assert!(
        error.message().contains("beyond what `top` is granted"),
        "{error}"
    );
}
