//! Grants: the tools that an agent may use at its place in a team.

use super::*;

#[tokio::test]
async fn t9_what_is_not_granted_does_not_exist() {
    let (coder, coded) = driven(
        "coder",
        [
            Script::calls([
                ("deploy", "{}"),
                ("compile", "{}"),
                ("lead", r#"{"input":"x"}"#),
            ]),
            Script::text("well"),
        ],
    );
    let team = structure!(coder.grants([Compile, WriteFile]));
    let outcome = team.run("go").outcome().await.unwrap();
    assert_eq!(offered(&coded), ["write_file", "compile"]);
    let receipts: Vec<_> = outcome.outputs.receipts().cloned().collect();
    let code = |receipt: &ToolEnvelope| receipt.error.as_ref().map(|error| error.code);
    assert_eq!(code(&receipts[0]), Some(Code::PolicyDenied));
    assert_eq!(
        (code(&receipts[1]), code(&receipts[2])),
        (None, Some(Code::PolicyDenied))
    );
    let results = crate::world::told(&coded);
    assert!(
        results[0].contains("there is no tool `deploy`; you have `write_file`, `compile`"),
        "{results:?}"
    );
}

#[tokio::test]
async fn nothing_granted_is_no_tools_and_nothing_said_is_all() {
    let (coder, coded) = driven("coder", [Script::text("x")]);
    structure!(coder.grants([])).run("go").await.unwrap();
    assert_eq!(offered(&coded), [""; 0]);
    let (coder, coded) = driven("coder", [Script::text("x")]);
    structure!(coder).run("go").await.unwrap();
    assert_eq!(offered(&coded).len(), 4);
}

#[tokio::test]
async fn a_place_goes_for_the_agent_that_has_it_and_for_nobody_whom_it_runs() {
    // A tool of the placed agent runs another agent of the same kind.
    let (inner, asked) = driven("inner", [Script::text("x")]);
    let inner = Arc::new(inner);
    let schema = json!({ "type": "object", "properties": {} });
    let ask = FnTool::new(
        "ask",
        "Asks.",
        agents::Effects::None,
        schema,
        move |_, _| {
            let inner = inner.clone();
            async move { inner.run("x").await }
        },
    );
    let (model, _) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("done")]);
    let outer: Plain = tooled("outer").tool(ask).model(model).build();
    let team = structure!(outer.grants(["ask"]).delegates(idle("helper").grants([])));
    team.run("go").await.unwrap();
    assert_eq!(
        offered(&asked),
        ["write_file", "compile", "run_tests", "deploy"]
    );
}

#[tokio::test]
async fn tools_known_at_run_time_are_named_by_pattern() {
    let tool = |name: &str| {
        let schema = json!({ "type": "object", "properties": {} });
        FnTool::new(
            name,
            "Works.",
            agents::Effects::None,
            schema,
            |_, _| async { Ok::<_, Error>("ok") },
        )
    };
    let (model, handle) = ScriptedModel::new([Script::call("mcp_delete", "{}"), Script::text("x")]);
    let agent = AgentBuilder::<String, String>::new("agent")
        .tools(ToolSet::new().with_all(["mcp_read", "mcp_delete", "web_read"].map(tool)))
        .model(model)
        .build();
    structure!(agent.grants(["mcp_*"]).confirm(["mcp_del*"]))
        .run("go")
        .await
        .unwrap();
    assert_eq!(offered(&handle), ["mcp_read", "mcp_delete"]);
    assert!(told(&handle).contains("not approved"), "{}", told(&handle));
}

#[tokio::test]
async fn arms_for_a_tool_that_is_withheld_are_no_mistake() {
    let (model, handle) = ScriptedModel::new([Script::text("x")]);
    let agent: Plain = tooled("coder")
        .model(model)
        .on_error_of::<std::convert::Infallible>("deploy", |_, _| None)
        .build();
    structure!(agent.grants([Compile])).run("go").await.unwrap();
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn a_team_among_the_parts_of_a_delegate_is_held_to_what_is_granted_and_confirmed() {
    let bare = |name: &'static str| -> Plain { AgentBuilder::new(name).build() };
    let (lead, led) = driven("lead", []);
    let part = Member::new(bare("b")).delegate(idle("ops")).build();
    let team = Member::new(lead)
        .grant::<RunTests>()
        .confirm::<Deploy>()
        .delegate(bare("a").then(part))
        .build();
    let error = team.run("go").await.unwrap_err();
    assert_eq!(led.count(), 0);
    let defects: Vec<_> = error.message().lines().skip(1).map(str::trim).collect();
    assert_eq!(
        defects,
        [
            "lead / a > b / b / ops: nothing was granted to it, so it has all its tools, and `write_file`, `compile` is beyond what `lead` is granted; say which it may use with `grants`",
            "lead / a > b / b / ops: `lead` has `deploy` with confirmation only; confirm it here as well",
        ]
    );
    // A tool that needs confirmation in a part needs it in the whole.
    let (lead, _) = driven("lead", []);
    let part = structure!(
        idle("b")
            .grants([])
            .confirm([Deploy])
            .delegates(idle("ops").grants([]))
    );
    let team = Member::new(lead)
        .grant::<RunTests>()
        .confirm::<Deploy>()
        .delegate(bare("a").then(part))
        .build();
    team.check().unwrap();
    assert_eq!(
        team.render().to_string(),
        "lead: run_tests, confirm deploy\n└─ a > b\n   └─ b: confirm deploy\n      └─ ops\n"
    );
    // A part may occur several times, and counts as the same place.
    let parts = [1, 2, 3].map(|_| structure!(idle("b").delegates(idle("ops"))));
    structure!(idle("lead").delegates(Vec::from(parts)))
        .check()
        .unwrap();
}

#[tokio::test]
async fn memory_and_knowledge_need_no_grant() {
    let knowing = |name: &'static str, script: Vec<Script>| {
        let (model, handle) = ScriptedModel::new(script);
        let agent: Plain = tooled(name)
            .memory(MemoryBank::new())
            .knowledge("style", "How to write.", || "Briefly.")
            .model(model)
            .build();
        (agent, handle)
    };
    // The agent below has no grants; its own tools do not exceed the grants above.
    let (coder, _) = knowing("coder", vec![]);

    let all = structure!(
        idle("lead")
            .grants([WriteFile, Compile, RunTests, Deploy])
            .delegates(coder)
    );
    all.check().unwrap();

    let (coder, coded) = knowing(
        "coder",
        vec![Script::call("style", "{}"), Script::text("x")],
    );
    structure!(coder.grants([Compile])).run("go").await.unwrap();
    let tools = [
        "compile",
        "style",
        "memory_read",
        "memory_write",
        "memory_search",
    ];
    assert_eq!(offered(&coded), tools);
    assert_eq!(told(&coded), "Briefly.");
}

#[test]
fn a_skill_that_lists_a_pattern_needs_one_tool_like_it() {
    let agent = || -> Plain {
        tooled("coder")
            .skill(Skill::model("work", "Works.").tools(["run_*", "compile"]))
            .build()
    };
    structure!(agent().grants([RunTests, Compile]))
        .check()
        .unwrap();
    structure!(agent().grants([RunTests]).confirm(["comp*"]))
        .check()
        .unwrap();
    let error = structure!(agent().grants([WriteFile])).check().unwrap_err();
    let defects: Vec<_> = error.message().lines().skip(1).map(str::trim).collect();
    assert_eq!(
        defects,
        [
            "coder: its skill `work` needs tools like `run_*`, and none is granted; grant one",
            "coder: its skill `work` needs the tool `compile`, which is not granted; grant it",
        ]
    );
}

#[tokio::test]
async fn a_skill_that_lists_tools_has_the_delegates_that_it_lists() {
    let (model, handle) = ScriptedModel::new((0..3).map(|_| Script::text("x")));
    let skill =
        |name: &'static str| Skill::model(name, "Works.").when(move |task: &String| task == name);
    let agent: Plain = tooled("lead")
        .skill(skill("ask").tools(["coder", "compile"]))
        .skill(skill("write").tools(["write_*"]))
        .skill(skill("all"))
        .model(model)
        .build();
    let team = structure!(agent.delegates(idle("coder"), idle("tester")));
    for (task, tools) in [
        ("ask", &["compile", "coder"][..]),
        ("write", &["write_file"]),
        (
            "all",
            &[
                "write_file",
                "compile",
                "run_tests",
                "deploy",
                "coder",
                "tester",
            ],
        ),
    ] {
        team.run(task).await.unwrap();
        assert_eq!(handle.requests().last().unwrap().tools, tools, "{task}");
    }
}
