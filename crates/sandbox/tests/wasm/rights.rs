use crate::{call, program, ran, tool};
use agents_core::{Effects, Tool, ToolContext, ToolFailure};
use agents_sandbox::{Job, WasmSandbox, WasmTool};

/// Code that writes so many bytes from this address.
fn write(at: u32, length: &str) -> String {
    format!(
        "(i32.store (i32.const 0) (i32.const {at})) (i32.store (i32.const 4) {length})
         (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"
    )
}

const MEMORY: &str = r#"(memory (export "memory") 1)"#;

/// Module that writes its standard input to its standard output.
fn cat() -> String {
    let read = "(i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 10))
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))";
    let write = write(100, "(i32.load (i32.const 8))");
    let code =
        format!("(loop $again {read} (if (i32.load (i32.const 8)) (then {write} (br $again))))");
    program(MEMORY, &code)
}

#[tokio::test]
async fn a_module_reads_its_input_and_writes_its_output() {
    let text = "a text that is longer than the buffer of ten bytes, with é";
    let ran = ran(WasmSandbox::new(), &cat(), text).await.unwrap();
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, text, ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_do_not_meet() {
    let tool = tool(WasmSandbox::new(), &cat()).unwrap();
    let texts: Vec<_> = (0..20).map(|n| format!("text {n}").repeat(50)).collect();
    let calls = texts.iter().map(|text| call(&tool, text));
    let all = futures_join(calls).await;
    for (ran, text) in all.into_iter().zip(&texts) {
        assert_eq!(ran.unwrap().stdout, *text);
    }
}

async fn futures_join<F: Future>(calls: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut calls: Vec<_> = calls.map(|call| (Box::pin(call), None)).collect();
    std::future::poll_fn(move |cx| {
        let mut is_ready = true;
        for (call, output) in &mut calls {
            if output.is_none() {
                match call.as_mut().poll(cx) {
                    std::task::Poll::Ready(ended) => *output = Some(ended),
                    std::task::Poll::Pending => is_ready = false,
                }
            }
        }
        match is_ready {
            true => {
                let ended = calls.iter_mut().filter_map(|(_, output)| output.take());
                std::task::Poll::Ready(ended.collect())
            }
            false => std::task::Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_status_other_than_0_is_a_result() {
    let module = program(MEMORY, "(call $exit (i32.const 7)) unreachable");
    let ran = ran(WasmSandbox::new(), &module, "").await.unwrap();
    assert_eq!(ran.status, 7);
}

#[tokio::test]
async fn a_module_is_given_its_arguments_and_its_variables_and_nothing_of_the_host() {
    let imports = |sizes: &str, get: &str| {
        format!(
            r#"(import "wasi_snapshot_preview1" "{sizes}" (func $sizes (param i32 i32) (result i32)))
               (import "wasi_snapshot_preview1" "{get}" (func $get (param i32 i32) (result i32))) {MEMORY}"#
        )
    };
    let code = format!(
        "(drop (call $sizes (i32.const 32) (i32.const 36))) (drop (call $get (i32.const 64) (i32.const 1000))) {}",
        write(1000, "(i32.load (i32.const 36))")
    );
    let args = program(&imports("args_sizes_get", "args_get"), &code);
    let module = wat::parse_str(args).unwrap();
    let job = |text: String| Job::new().args(["-x", &text]);
    let tool = WasmTool::new("module", "Runs.", &module, WasmSandbox::new(), job).unwrap();
    let ran_with = call(&tool, "a b").await.unwrap();
    // A zero byte is shown as `�`.
    assert_eq!(ran_with.stdout, "module\u{fffd}-x\u{fffd}a b\u{fffd}");

    let env = program(&imports("environ_sizes_get", "environ_get"), &code);
    let sandbox = WasmSandbox::new();
    assert_eq!(ran(sandbox.clone(), &env, "").await.unwrap().stdout, "");
    let sandbox = sandbox.env("TZ", "UTC");
    assert_eq!(
        ran(sandbox, &env, "").await.unwrap().stdout,
        "TZ=UTC\u{fffd}"
    );
}

#[tokio::test]
async fn files_of_a_job_are_a_mistake_of_the_arguments() {
    let module = wat::parse_str(cat()).unwrap();
    let job = |text: String| Job::new().file("a.txt", text);
    let tool = WasmTool::new("module", "Runs.", &module, WasmSandbox::new(), job).unwrap();
    let error = call(&tool, "").await.unwrap_err();
    assert_eq!(error.code(), agents_core::Code::ValidationError);
    assert!(error.to_string().contains("`.stdin(..)`"), "{error}");
}

#[tokio::test]
async fn only_the_three_files_are_open() {
    let fds = r#"(import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_seek" (func $seek (param i32 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $stat (param i32 i32) (result i32)))"#;
    let is = |call: &str, answer: u32| {
        format!("(if (i32.ne {call} (i32.const {answer})) (then unreachable))")
    };
    let code = [
        is("(call $prestat (i32.const 3) (i32.const 0))", 8),
        is("(call $close (i32.const 3))", 8),
        is("(call $close (i32.const 1))", 0),
        is(
            "(call $seek (i32.const 1) (i64.const 0) (i32.const 0) (i32.const 0))",
            70,
        ),
        is("(call $stat (i32.const 1) (i32.const 64))", 0),
        is(
            "(call $write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 8))",
            8,
        ),
        is(
            "(call $write (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8))",
            8,
        ),
        is(
            "(call $read (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))",
            8,
        ),
    ];
    let module = program(&format!("{fds} {MEMORY}"), &code.concat());
    assert_eq!(
        ran(WasmSandbox::new(), &module, "").await.unwrap().status,
        0
    );
}

#[tokio::test]
async fn rights_that_were_given_work_and_are_declared() {
    let random = r#"(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))"#;
    let code = "(drop (call $random (i32.const 64) (i32.const 16)))
        (if (i64.eqz (i64.or (i64.load (i32.const 64)) (i64.load (i32.const 72)))) (then unreachable))
        (drop (call $time (i32.const 0) (i64.const 0) (i32.const 80)))
        (if (i64.lt_u (i64.load (i32.const 80)) (i64.const 1700000000000000000)) (then unreachable))";
    let module = program(&format!("{random} {MEMORY}"), code);
    let given = tool(WasmSandbox::new().random().clock(), &module).unwrap();
    assert_eq!(given.spec().effects, Effects::Reads);
    assert_eq!(call(&given, "").await.unwrap().status, 0);
    let pure = tool(WasmSandbox::new(), &cat()).unwrap();
    assert_eq!(pure.spec().effects, Effects::None);
    let _ = ToolContext::detached("module");
}
