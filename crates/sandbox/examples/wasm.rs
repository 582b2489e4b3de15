//! An agent with a tool that is a WebAssembly module: `cargo run -p agents-sandbox --features wasm --example wasm`.
//!
//! The module is in the text format here, and a compiler makes such modules for `wasm32-wasip1`. The model is a script.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
};
use agents_sandbox::{Job, WasmSandbox, WasmTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// Module that writes its input in capital letters.
const SHOUT: &str = r#"(module
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start") (local $at i32) (local $letter i32)
        ;; A buffer of 1,000 bytes at 100, which the input fills, and whose length becomes what was read.
        (i32.store (i32.const 0) (i32.const 100))
        (i32.store (i32.const 4) (i32.const 1000))
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)))
        (block $end (loop $next
            (br_if $end (i32.ge_u (local.get $at) (i32.load (i32.const 4))))
            (local.set $letter (i32.load8_u offset=100 (local.get $at)))
            (if (i32.lt_u (i32.sub (local.get $letter) (i32.const 97)) (i32.const 26)) (then
                (i32.store8 offset=100 (local.get $at) (i32.sub (local.get $letter) (i32.const 32)))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

#[derive(Deserialize, JsonSchema)]
struct Text {
    /// Text that is shouted.
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let module = wat::parse_str(SHOUT)?;
    let sandbox = WasmSandbox::new().memory(1_000_000).fuel(100_000);
    let job = |args: Text| Job::new().stdin(args.text);
    let shout = WasmTool::new(
        "shout",
        "Returns a text in capital letters.",
        &module,
        sandbox,
        job,
    )?;
    let crier = AgentBuilder::<String, String>::new("crier")
        .tool(shout)
        .build();

    let (model, handle) = ScriptedModel::new([
        Script::call("shout", r#"{"text": "hear ye"}"#),
        Script::text("I have said it."),
    ]);
    let answer = crier.run("Say it loud.").model(model).await?;
    println!("{}", handle.requests()[1].last());
    println!("{answer}");
    Ok(())
}
