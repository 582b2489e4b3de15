use super::*;
use crate::tool::{Effects, FnTool, IntoTool, NeedsApproval, Risk, ToolPolicy, alias};
use std::{io, sync::Mutex, time::Duration};

type Seen = Arc<Mutex<Vec<(Value, Value)>>>;

/// Creates a tool whose undo records what it is given. It finds a conflict for leads whose output says so.
fn set_status() -> (FnTool, Seen) {
    let seen = Seen::default();
    let noted = seen.clone();
    let schema = json!({
        "type": "object",
        "properties": {"lead": {"$ref": "#/definitions/Lead"}, "status": {"type": "string", "minLength": 1}},
        "required": ["lead", "status"],
        "definitions": {"Lead": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    });
    let spec = ToolSpec::new("set_status", "Sets a status.", Effects::Writes, schema)
        .version("2.1.0")
        .effect_description("set lead {lead.id} to {status}, {{status}} {nobody}")
        .timeout(Duration::from_secs(3))
        .external()
        .approval(NeedsApproval::When);
    let tool = FnTool::with_spec(spec, |_, _| async { Ok::<_, io::Error>("set") });
    let tool = tool.undo(move |args, output, _| {
        noted.lock().unwrap().push((args, output.clone()));
        async move {
            match output["since"].as_str() {
                Some("broken") => Err(io::Error::other("no route to the CRM")),
                Some(what) => Ok(conflict(what)),
                None => Ok(undone()),
            }
        }
    });
    (tool, seen)
}

fn call_of(output: &Value) -> String {
    json!({"args": {"lead": {"id": 7}, "status": "won"}, "output": output}).to_string()
}

async fn run(tool: &SharedTool, arguments: &str) -> Result<Value, String> {
    let prepared = tool
        .prepare(arguments)
        .map_err(|misfit| format!("{}: {}", misfit.path(), misfit.message()))?;
    let cx = ToolContext::detached(&tool.spec().name);
    let output = tool.execute(prepared, &cx).await;
    Ok(output
        .map_err(|cause| cause.message().to_owned())?
        .to_value()
        .unwrap())
}

#[tokio::test]
async fn an_undo_is_given_the_arguments_and_the_output_of_the_call() {
    let (tool, seen) = set_status();
    let undo = undo_tool(&tool.into_tool()).unwrap();

    let output = run(&undo, &call_of(&json!({"previous": "new"}))).await;

    assert_eq!(output, Ok(json!({"undone": true})));
    let seen = seen.lock().unwrap();
    let args = json!({"lead": {"id": 7}, "status": "won"});
    assert_eq!(*seen, [(args, json!({"previous": "new"}))]);
}

#[tokio::test]
async fn a_conflict_is_an_output_and_an_error_is_an_error() {
    let undo = undo_tool(&set_status().0.into_tool()).unwrap();
    let conflict = run(&undo, &call_of(&json!({"since": "it was sold"}))).await;
    assert_eq!(conflict, Ok(json!({"conflict": "it was sold"})));
    let error = run(&undo, &call_of(&json!({"since": "broken"}))).await;
    assert_eq!(error, Err("no route to the CRM".to_owned()));
}

#[tokio::test]
async fn arguments_of_an_undo_are_read_strictly() {
    let (tool, seen) = set_status();
    let undo = undo_tool(&tool.into_tool()).unwrap();
    let args = json!({"lead": {"id": 7}, "status": "won"});
    for (wrong, path) in [
        (json!({"args": args}), ""),
        (json!({"args": args, "output": 1, "more": 1}), ""),
        (
            json!({"args": {"lead": {"id": "7"}, "status": "won"}, "output": 1}),
            "args.lead.id",
        ),
        (
            json!({"args": {"lead": {"id": 7}, "status": ""}, "output": 1}),
            "args.status",
        ),
    ] {
        let error = undo.prepare(&wrong.to_string()).unwrap_err();
        assert!(error.path().starts_with(path), "{wrong}: {error:?}");
    }
    // A number that a tree of values would round is refused, and not changed.
    let large = r#"{"args": {"lead": {"id": 7}, "status": "won"}, "output": 340282366920938463463374607431768211455}"#;
    let error = run(&undo, large).await.unwrap_err();
    assert!(error.contains("too large to be kept exactly"), "{error}");
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn the_undo_has_the_rules_of_the_tool() {
    let tool = set_status().0.into_tool();
    let undo = undo_tool(&tool).unwrap();
    let spec = undo.spec();
    assert_eq!((&*spec.name, &*spec.version), ("undo_set_status", "2.1.0"));
    assert_eq!((spec.effects, spec.external), (Effects::Writes, true));
    assert_eq!(spec.approval, NeedsApproval::Always);
    assert_eq!(spec.risk_level(), Risk::High);
    assert_eq!(spec.timeout, Some(Duration::from_secs(3)));
    assert!(spec.strict && !spec.idempotent && !spec.has_undo());
    assert_eq!(
        spec.effect_description.as_deref(),
        Some("undo: set lead {args.lead.id} to {args.status}, {{status}} {nobody}")
    );
    assert_eq!(
        spec.input_schema["properties"]["args"]["properties"]["lead"]["$ref"],
        "#/definitions/Lead"
    );
    assert!(spec.input_schema["definitions"]["Lead"].is_object());
    assert!(spec.input_schema["properties"]["args"]["definitions"].is_null());
}

#[test]
fn a_risk_that_the_tool_declares_is_that_of_its_undo() {
    let schema = || json!({"type": "object"});
    let careful = ToolSpec::new("pay", "Pays.", Effects::Writes, schema()).risk(Risk::Low);
    let careful = FnTool::with_spec(careful.idempotent(), |_, _| async { Ok::<_, io::Error>(1) })
        .undo(|_, _, _| async { Ok::<_, io::Error>(undone()) })
        .into_tool();
    let undo = undo_tool(&careful).unwrap();
    assert_eq!(undo.spec().risk_level(), Risk::Low);
    assert_eq!(undo.spec().approval, NeedsApproval::Never);
    assert!(undo.spec().idempotent);
    assert_eq!(
        undo.spec().effect_description.as_deref(),
        Some("undo: a call of pay")
    );
}

#[test]
fn a_reference_to_the_whole_schema_goes_to_the_arguments() {
    let schema = json!({
        "type": "object",
        "properties": {"below": {"$ref": "#"}},
        "additionalProperties": false,
    });
    let tree = FnTool::new("plant", "Plants.", Effects::Writes, schema, |_, _| async {
        Ok::<_, io::Error>(1)
    })
    .undo(|_, _, _| async { Ok::<_, io::Error>(undone()) })
    .into_tool();
    let undo = undo_tool(&tree).unwrap();
    let compiled = undo.spec().expected().compiled;
    assert!(
        compiled
            .fits(r#"{"args": {"below": {"below": {}}}, "output": 1}"#)
            .is_ok()
    );
    let wrong = compiled.fits(r#"{"args": {"below": {"under": {}}}, "output": 1}"#);
    assert!(wrong.is_err());
}

#[tokio::test]
async fn an_alias_and_a_policy_pass_the_undo_on() {
    let (tool, seen) = set_status();
    let renamed = alias(tool, "set_old");
    let judged = ToolPolicy::new().confirm_when(|_, _| true).over(renamed);

    let undo = undo_tool(&judged).unwrap();

    let spec = undo.spec();
    assert_eq!(
        (&*spec.name, spec.own_name()),
        ("undo_set_old", "undo_set_status")
    );
    let output = run(&undo, &call_of(&json!(null))).await;
    assert_eq!(output, Ok(json!({"undone": true})));
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_tool_without_undo_has_no_undo_tool_and_says_so() {
    let schema = json!({"type": "object"});
    let plain = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, _| async {
        Ok::<_, io::Error>("paid")
    });
    let plain = alias(plain, "pay_old");
    assert!(undo_tool(&plain).is_none());
    let prepared = plain.prepare("{}").unwrap();
    let cx = ToolContext::detached("pay");
    let error = plain.undo(prepared, Json::null(), &cx).await.unwrap_err();
    assert!(
        error.to_string().starts_with("`pay` has no undo"),
        "{error}"
    );
}

mod by_hand {
    use super::*;
    use crate::tool::Tool;
    use std::{convert::Infallible, sync::LazyLock};

    #[derive(Deserialize, schemars::JsonSchema)]
    struct Args {
        id: u64,
    }

    #[derive(Serialize, Deserialize)]
    struct Change {
        previous: u128,
    }

    struct SetStatus(Arc<Mutex<Option<(u64, u128)>>>);

    impl Tool for SetStatus {
        type Args = Args;
        type Ok = Change;
        type Err = Infallible;

        fn spec(&self) -> &ToolSpec {
            static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
                ToolSpec::of::<Args>("set_status", "Sets.", Effects::Writes).undoable()
            });
            &SPEC
        }

        async fn call(&self, _: Args, _: &ToolContext) -> Result<Change, Infallible> {
            Ok(Change { previous: 1 })
        }

        async fn undo(
            &self,
            args: Args,
            output: StoredOutput<Change>,
            _: &ToolContext,
        ) -> Result<Undone, ToolError> {
            *self.0.lock().unwrap() = Some((args.id, output.read()?.previous));
            Ok(undone())
        }
    }

    #[tokio::test]
    async fn a_typed_tool_reads_its_output_exactly_and_names_what_does_not_fit() {
        let seen = Arc::default();
        let undo = undo_tool(&SetStatus(Arc::clone(&seen)).into_tool()).unwrap();
        let large = r#"{"args": {"id": 7}, "output": {"previous": 340282366920938463463374607431768211455}}"#;
        assert_eq!(run(&undo, large).await, Ok(json!({"undone": true})));
        assert_eq!(*seen.lock().unwrap(), Some((7, u128::MAX)));

        let other = r#"{"args": {"id": 7}, "output": {"previous": "new"}}"#;
        let error = run(&undo, other).await.unwrap_err();
        assert!(
            error.starts_with(
                "the stored output does not fit the type that `undo` reads: field `previous`: "
            ),
            "{error}"
        );
    }
}
