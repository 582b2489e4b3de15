//! Modules that take more than they may, or that want what they were not given. Each is stopped or refused, and named.
//!
//! `cargo test -p agents-sandbox --features wasm --test wasm`: compiling wasmtime takes minutes.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod limits;
mod refused;
mod rights;
mod runs;

use agents_core::{Code, Tool, ToolContext, ToolFailure};
use agents_sandbox::{Job, Limit, Ran, SandboxError, Unenforced, WasmSandbox, WasmTool};

/// Makes a tool of a module in the text format. Its argument becomes the standard input.
fn tool(sandbox: WasmSandbox, module: &str) -> Result<WasmTool<String>, Unenforced> {
    let module = wat::parse_str(module).unwrap();
    let job = |text: String| Job::new().stdin(text);
    WasmTool::new("module", "Runs a module.", &module, sandbox, job)
}

/// Returns a module with this code in `_start`, with a page of memory, and with these imports and definitions.
fn program(before: &str, code: &str) -> String {
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            {before}
            (func (export "_start") {code}))"#
    )
}

/// Memory of one page, and a text of five bytes in it, with its list of buffers at 0.
const HELLO: &str = r#"(memory (export "memory") 1) (data (i32.const 0) "\10\00\00\00\05\00\00\00") (data (i32.const 16) "hello")"#;

async fn call(tool: &WasmTool<String>, input: &str) -> Result<Ran, SandboxError> {
    let context = ToolContext::detached("module");
    tool.call(input.to_owned(), &context).await
}

async fn ran(sandbox: WasmSandbox, module: &str, input: &str) -> Result<Ran, SandboxError> {
    call(&tool(sandbox, module).unwrap(), input).await
}

/// Runs a module that has to be stopped by this limit, in a sentence with these words.
async fn stopped(sandbox: WasmSandbox, module: &str, limit: Limit, words: &str) {
    let error = ran(sandbox, module, "").await.unwrap_err();
    assert_eq!(error.limit(), Some(limit), "{error}");
    assert_eq!(error.code(), Code::SandboxError);
    assert!(error.to_string().contains(words), "{error}");
}
