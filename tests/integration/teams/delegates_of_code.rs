//! Delegates that native code asks.

use super::*;

/// Creates an agent that answers with its input and its tools.
fn coder(name: &'static str) -> (Plain, ScriptedModel) {
    driven(
        name,
        (0..4).map(|_| {
            Script::with(|asked: &ReceivedRequest| {
                let content = format!("{} with {}", asked.last(), asked.tools.join("+"));
                agents::model::Reply {
                    content,
                    ..Default::default()
                }
            })
        }),
    )
}

/// Creates an agent whose body asks a delegate.
fn asks<F, Fut>(body: F) -> Plain
where
    F: Fn(String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, Error>> + Send + 'static,
{
    AgentBuilder::new("boss")
        .skill(Skill::native("ask", "Asks.", body))
        .build()
}

#[tokio::test]
async fn a_skill_finds_the_delegate_of_a_type() {
    let team = structure!(
        asks(|task| async { delegate::<Plain>()?.run(task).await })
            .delegates(coder("coder").0.grants([Compile]))
    );
    assert_eq!(team.run("go").await.unwrap(), "go with compile");
}

#[tokio::test]
async fn a_skill_finds_a_delegate_by_name() {
    let boss = asks(|task| async move {
        let one = delegate_named::<String, String>("one")?.run(&*task).await?;
        let two = delegate_named::<String, String>("two")?.run(task).await?;
        Ok(format!("{one}, {two}"))
    });
    let team =
        structure!(boss.delegates(coder("one").0.grants([Compile]), coder("two").0.grants([])));
    assert_eq!(team.run("go").await.unwrap(), "go with compile, go with ");
}

#[tokio::test]
async fn a_tool_of_the_parent_finds_the_delegate() {
    let schema = json!({ "type": "object", "properties": {} });
    let ask = FnTool::new(
        "ask",
        "Asks.",
        agents::Effects::None,
        schema,
        |_, _| async { delegate::<Plain>()?.run("from a tool").await },
    );
    let (model, handle) = ScriptedModel::new([Script::call("ask", "{}"), Script::text("done")]);
    let boss = AgentBuilder::<String, String>::new("boss")
        .tool(ask)
        .model(model)
        .build();
    let team = structure!(
        boss.grants(["ask", "compile"])
            .delegates(coder("coder").0.grants([Compile]))
    );
    team.run("go").await.unwrap();
    assert_eq!(told(&handle), "from a tool with compile");
}

#[tokio::test]
async fn who_is_not_there_is_named() {
    let error = |team: Team<Plain>| async move {
        let error = team.run("go").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Build, "{error:?}");
        error.to_string()
    };
    let boss = || asks(|task| async { delegate::<Plain>()?.run(task).await });
    assert_eq!(
        error(structure!(boss())).await,
        "agent `boss` has no delegates, so there is no `ModelAgent<String, String>`; place it with `.delegates(..)`"
    );
    assert_eq!(
        error(structure!(boss().delegates(coder("one").0, coder("two").0))).await,
        "agent `boss` has several delegates `ModelAgent<String, String>`; ask by name with `delegate_named`"
    );
    let boss = asks(|task| async move {
        delegate_named::<String, u32>("one")?
            .run(task)
            .await
            .map(|n| n.to_string())
    });
    assert_eq!(
        error(structure!(boss.delegates(coder("one").0))).await,
        "agent `boss` has no delegate `one: String -> u32`; it has `one`: place it with `.delegates(..)`"
    );
    assert!(
        delegate::<Plain>()
            .unwrap_err()
            .message()
            .starts_with("there is no delegate `")
    );
}

#[tokio::test]
async fn an_agent_that_a_skill_runs_has_no_delegates() {
    let inner = || asks(|task| async { delegate::<Plain>()?.run(task).await });
    let boss = asks(move |task| async move { inner().run(task).await });
    let team = structure!(boss.delegates(coder("coder").0));
    let error = team.run("go").await.unwrap_err();
    assert!(
        error.message().starts_with("there is no delegate `"),
        "{error}"
    );
}

/// You write code.
#[agents::agent(tools = [Compile, Deploy])]
async fn writer(task: String) -> String;

struct Boss {
    calls: String,
}

#[agents::agent(prompt = "You lead.", tools = [RunTests])]
impl Boss {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> String;

    /// Asks without a model.
    #[skill(when = |task| task == "ask")]
    async fn ask(&self, _task: String) -> Result<String, Error> {
        delegate::<Writer>()?.run(&*self.calls).await
    }
}

#[tokio::test]
async fn agents_that_macros_made_are_placed_like_any() {
    let team = structure!(
        Boss {
            calls: "write".into()
        }
        .grants([RunTests, Compile])
        .delegates(Writer.grants([Compile]))
    );
    assert_eq!(
        team.render().to_string(),
        "boss: run_tests\n└─ writer: compile\n"
    );
    let (model, handle) = ScriptedModel::new([
        Script::call("writer", r#"{"input":"x"}"#),
        Script::call("deploy", "{}"),
        Script::text("no"),
        Script::text("done"),
        Script::text("written"),
    ]);
    assert_eq!(team.run("go").model(model.clone()).await.unwrap(), "done");
    let tools: Vec<_> = handle
        .requests()
        .iter()
        .map(|asked| asked.tools.join("+"))
        .collect();
    assert_eq!(
        tools,
        ["run_tests+writer", "compile", "compile", "run_tests+writer"]
    );
    assert!(
        handle.requests()[2]
            .last()
            .contains("there is no tool `deploy`")
    );
    assert_eq!(team.run("ask").model(model).await.unwrap(), "written");
    assert_eq!(handle.requests()[4].last(), "write");
}
