use crate::{HELLO, program, tool};
use agents::{
    Agent, AgentBuilder, Code,
    testing::{Script, ScriptedModel},
};
use agents_sandbox::WasmSandbox;

#[tokio::test]
async fn k4_a_breach_of_a_module_is_in_the_receipt() {
    let module = program(HELLO, "(loop $again (br $again))");
    let tool = tool(WasmSandbox::new().fuel(1_000), &module).unwrap();
    let agent = AgentBuilder::<String, String>::new("runner")
        .tool(tool)
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::call("module", r#"{"value": ""}"#),
        Script::text("It has no end."),
    ]);
    let outcome = agent.run("Run it.").model(model).outcome().await.unwrap();
    let told = handle.requests()[1].last().to_owned();
    assert!(told.contains("more than 1000 instructions"), "{told}");
    let outputs = &outcome.outputs;
    let receipt = &outputs.tools_by_id[&outputs.tool_order[0]];
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::SandboxError);
}
