//! Charts of teams.

use super::*;

fn organisation() -> Team<Plain> {
    structure!(
        idle("project")
            .grants([WriteFile, Compile, RunTests, Deploy])
            .budget(tokens(500_000).time(minutes(30)))
            .delegates(
                idle("writer").grants([WriteFile]),
                idle("code_master")
                    .grants([WriteFile, Compile, RunTests])
                    .confirm([Deploy])
                    .delegates(
                        idle("coder").grants([WriteFile, Compile]),
                        idle("tester")
                            .grants([RunTests])
                            .budget(Budget::new().max_turns(3)),
                    ),
                idle("clerk").grants([]),
            )
    )
}

#[test]
fn as_text() {
    let team = organisation();
    team.check().unwrap();
    let expected = "\
project: write_file, compile, run_tests, deploy, at most 500000 tokens, 30 min
├─ writer: write_file
├─ code_master: write_file, compile, run_tests, confirm deploy
│  ├─ coder: write_file, compile
│  └─ tester: run_tests, at most 3 turns
└─ clerk
";
    assert_eq!(team.render().to_string(), expected);
}

/// A delegate that is confirmed is shown as a tool that is confirmed.
#[test]
fn a_confirmed_delegate_is_shown_above_it() {
    let team = structure!(
        idle("lead")
            .grants([Compile])
            .confirm(["deployer"])
            .delegates(
                idle("deployer")
                    .grants([])
                    .delegates(idle("tester").grants([])),
                idle("coder").grants([Compile]),
            )
    );
    team.check().unwrap();
    let expected = "\
lead: compile, confirm deployer
├─ deployer
│  └─ tester
└─ coder: compile
";
    let chart = team.render();
    assert_eq!(chart.to_string(), expected);
    assert_eq!(chart.to_json()["confirm"], json!(["deployer"]));
    assert_eq!(chart.confirm(), ["deployer"]);
}

#[test]
fn one_of_what_is_bounded_is_not_several() {
    let one = Budget::new().max_turns(1).max_tool_calls(1).tokens(2);
    let team = structure!(idle("lead").delegates(idle("tester").budget(one)));
    let drawn = team.render().to_string();
    let said = ", at most 1 turn, 1 tool call, 2 tokens\n";
    assert!(drawn.ends_with(said), "{drawn}");
}

#[test]
fn as_json() {
    let chart = organisation().render().to_json();
    let master = &chart["delegates"][1];
    assert_eq!(master["name"], "code_master");
    assert_eq!(master["description"], "You are code_master.");
    assert_eq!(
        master["tools"],
        json!(["write_file", "compile", "run_tests"])
    );
    assert_eq!(master["confirm"], json!(["deploy"]));
    assert_eq!(master["delegates"][1]["budget"], json!({ "turns": 3 }));
    assert_eq!(chart["budget"]["tokens"], 500_000);
}

#[test]
fn as_a_graph() {
    let (a, b) = (idle("a").then(idle("b")), idle("say \"hi\""));
    let graph = structure!(b.delegates(a)).render().mermaid();
    assert_eq!(
        graph,
        "graph TD\n    a0[\"say #34;hi#34;<br/>write_file, compile, run_tests, deploy\"]\n    \
         a1[\"a #62; b<br/>write_file, compile, run_tests, deploy\"]\n    a0 --> a1\n"
    );
}

/// A grant that has no effect is not shown as a tool in the chart, but marked.
#[test]
fn what_is_wrong_is_marked_where_it_is() {
    let writer: Plain = AgentBuilder::new("writer").tool(Compile).build();
    let coder = Member::new(idle("coder"))
        .grant::<Compile>()
        .grant::<Deploy>();
    let tester = Member::new(idle("tester"))
        .grant::<Compile>()
        .grant::<Deploy>();
    let team = Member::new(idle("lead"))
        .grant::<Compile>()
        .delegate(coder.delegate(tester))
        .delegate(Member::new(writer).grant::<Compile>().grant_named("draw"))
        .build();
    let beyond =
        "`deploy` is beyond what `lead` is granted; grant it there as well, or leave it out here";
    let unknown =
        "there is no tool `draw` here or below, only `compile`; add it to the agent's `tools`";
    let out =
        "`draw` is beyond what `lead` is granted; grant it there as well, or leave it out here";
    let chart = team.render();
    assert_eq!(
        chart.to_string(),
        format!(
            "\
lead: compile
├─ coder: compile
│  │  ! {beyond}
│  └─ tester: compile
└─ writer: compile
      ! {unknown}
      ! {out}
"
        )
    );
    assert_eq!(chart.delegates()[1].defects(), [unknown, out]);
    let json = chart.to_json();
    assert_eq!(json["delegates"][0]["defects"], json!([beyond]));
    assert_eq!(json["delegates"][0]["delegates"][0].get("defects"), None);
    assert!(
        chart
            .mermaid()
            .contains("writer<br/>compile<br/>! there is no tool `draw`")
    );
    let told = team.check().unwrap_err().to_string();
    for defect in [beyond, unknown, out] {
        assert!(told.contains(defect), "{told}");
    }
}
