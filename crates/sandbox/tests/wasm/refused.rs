use crate::{HELLO, program, tool};
use agents_sandbox::{Job, WasmSandbox, WasmTool};

/// Checks that a module is refused when its tool is made, in a sentence with these words.
fn refused(sandbox: WasmSandbox, module: &str, words: &str) {
    let error = tool(sandbox, module).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
}

fn importing(module: &str, name: &str, kind: &str) -> String {
    format!(
        r#"(module (import "{module}" "{name}" ({kind})) (memory (export "memory") 1) (func (export "_start")))"#
    )
}

#[test]
fn k4_rights_that_were_not_given_are_refused_when_the_tool_is_made() {
    let wasi = |name, kind| importing("wasi_snapshot_preview1", name, kind);
    let open = "func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)";
    let none = WasmSandbox::new;
    refused(none(), &wasi("path_open", open), "`path_open`");
    refused(none(), &wasi("path_open", open), "no files, sockets");
    let sock = "func (param i32 i32 i32) (result i32)";
    refused(none(), &wasi("sock_accept", sock), "`sock_accept`");
    let poll = "func (param i32 i32 i32 i32) (result i32)";
    refused(none(), &wasi("poll_oneoff", poll), "`poll_oneoff`");
    let random = wasi("random_get", "func (param i32 i32) (result i32)");
    refused(none(), &random, "give it with `.random()`");
    refused(none().clock(), &random, "give it with `.random()`");
    assert!(tool(none().random(), &random).is_ok());
    let clock = wasi("clock_time_get", "func (param i32 i64 i32) (result i32)");
    refused(none(), &clock, "give it with `.clock()`");
    assert!(tool(none().clock(), &clock).is_ok());
    refused(
        none(),
        &importing("env", "system", "func"),
        "`system` of `env`",
    );
    // A right of the wrong type is none.
    let wrong = wasi("fd_write", "func (param i64)");
    refused(none(), &wrong, "fd_write");
    refused(none(), &wasi("fd_read", "global i32"), "fd_read");
}

#[test]
fn k4_a_module_that_is_broken_or_no_command_is_refused() {
    let job = |text: String| Job::new().stdin(text);
    let whole = wat::parse_str(program(HELLO, "")).unwrap();
    let cut = &whole[..whole.len() - 3];
    for bytes in [b"" as &[u8], b"MZ", b"(module)", cut] {
        let made = WasmTool::new("module", "Runs.", bytes, WasmSandbox::new(), job);
        let error = made.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("the module is not valid"), "{error}");
    }
    let sandbox = WasmSandbox::new;
    refused(
        sandbox(),
        r#"(module (memory (export "memory") 1))"#,
        "`_start`",
    );
    let with_parameter =
        r#"(module (memory (export "memory") 1) (func (export "_start") (param i32)))"#;
    refused(sandbox(), with_parameter, "`_start`");
    refused(
        sandbox(),
        r#"(module (func (export "_start")))"#,
        "`memory`",
    );
    let large = r#"(module (memory (export "memory") 100) (func (export "_start")))"#;
    refused(sandbox().memory(6_000_000), large, "`.memory(..)`");
    let wide = r#"(module (memory (export "memory") i64 1) (func (export "_start")))"#;
    refused(sandbox(), wide, "not valid");
    let two = r#"(module (memory (export "memory") 1) (memory 1) (func (export "_start")))"#;
    refused(sandbox(), two, "not valid");
    let shared = r#"(module (memory (export "memory") 1 1 shared) (func (export "_start")))"#;
    refused(sandbox(), shared, "not valid");
    refused(sandbox().env("A=B", ""), &program(HELLO, ""), "A=B");
}
