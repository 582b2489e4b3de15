use crate::{HELLO, call, program, ran, stopped, tool};
use agents_sandbox::{Limit, WasmSandbox};
use std::time::{Duration, Instant};

const LOOP: &str = "(loop $again (br $again))";

#[tokio::test]
async fn k4_a_module_without_an_end_runs_out_of_fuel() {
    let module = program(HELLO, LOOP);
    let sandbox = WasmSandbox::new().fuel(1_000_000);
    let words = "more than 1000000 instructions; allow more with `.fuel(..)`, or ask for less";
    stopped(sandbox, &module, Limit::Fuel, words).await;
}

#[tokio::test]
async fn k4_a_module_without_an_end_is_stopped_by_its_deadline() {
    let module = program(HELLO, LOOP);
    let sandbox = WasmSandbox::new()
        .fuel(u64::MAX)
        .time(Duration::from_millis(100));
    let begun = Instant::now();
    stopped(sandbox, &module, Limit::Time, "within 100ms").await;
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// The thread of the module ends, also if nobody waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k4_a_cancelled_call_stops_its_module() {
    let module = program(HELLO, LOOP);
    let sandbox = WasmSandbox::new()
        .fuel(u64::MAX)
        .time(Duration::from_secs(600));
    let tool = tool(sandbox, &module).unwrap();
    let cancelled = tokio::time::timeout(Duration::from_millis(200), call(&tool, "")).await;
    assert!(cancelled.is_err(), "it has no end");
    // Threads for blocking work are not counted by tokio, but by the kernel.
    #[cfg(target_os = "linux")]
    {
        let burnt = || {
            let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
            let (_, rest) = stat.rsplit_once(')').unwrap();
            rest.split_whitespace()
                .nth(11)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        };
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let before = burnt();
            tokio::time::sleep(Duration::from_secs(1)).await;
            // A loop takes some 100 ticks in a second of its own, and other tests end some time.
            if burnt() - before < 5 {
                break;
            }
            assert!(Instant::now() < until, "the module goes on");
        }
    }
}

#[tokio::test]
async fn k4_a_memory_bomb_is_stopped() {
    let code = "(loop $again (drop (memory.grow (i32.const 16))) (br $again))";
    let module = program(HELLO, code);
    let sandbox = WasmSandbox::new().memory(4_000_000);
    let words = "more than 4 MB of memory; allow more with `.memory(..)`, or ask for less";
    stopped(sandbox.clone(), &module, Limit::Memory, words).await;

    let all_at_once = program(HELLO, "(drop (memory.grow (i32.const 60000)))");
    stopped(sandbox.clone(), &all_at_once, Limit::Memory, words).await;

    let table = format!("{HELLO} (table $t 1 funcref)");
    let code = "(drop (table.grow $t (ref.null func) (i32.const 10000000)))";
    let module = program(&table, code);
    stopped(sandbox.clone(), &module, Limit::Memory, words).await;

    let table = format!("{HELLO} (table 10000000 funcref)");
    stopped(sandbox, &program(&table, ""), Limit::Memory, words).await;
}

#[tokio::test]
async fn k4_memory_up_to_the_limit_is_given() {
    let code = "(if (i32.eq (memory.grow (i32.const 60)) (i32.const -1)) (then unreachable))";
    // 61 pages are 3,997,696 bytes.
    let sandbox = WasmSandbox::new().memory(4_000_000);
    assert_eq!(
        ran(sandbox, &program(HELLO, code), "")
            .await
            .unwrap()
            .status,
        0
    );
    // A module that limits itself is told so by `-1`, and goes on.
    let limited = r#"(memory (export "memory") 1 2)"#;
    let code = "(if (i32.ne (memory.grow (i32.const 5)) (i32.const -1)) (then unreachable))";
    let ran = ran(WasmSandbox::new(), &program(limited, code), "").await;
    assert_eq!(ran.unwrap().status, 0);
}

#[tokio::test]
async fn k4_an_output_flood_is_stopped() {
    for file in [1, 2] {
        let code = format!(
            "(loop $again (drop (call $write (i32.const {file}) (i32.const 0) (i32.const 1) (i32.const 8))) (br $again))"
        );
        let module = program(HELLO, &code);
        let sandbox = WasmSandbox::new().output(1_000);
        let words = "16 times the 1 kB of output that are shown";
        stopped(sandbox, &module, Limit::Output, words).await;
    }
}

#[tokio::test]
async fn k4_long_output_is_cut_with_a_remark() {
    let code =
        "(drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))".repeat(3);
    let sandbox = WasmSandbox::new().output(7);
    let ran = ran(sandbox, &program(HELLO, &code), "").await.unwrap();
    assert_eq!(ran.stdout, "hellohe\n… (cut: these are 7 of 15 bytes)");
}

#[tokio::test]
async fn k4_recursion_is_stopped() {
    let deep = format!(
        "{HELLO} (func $deep (param i64) (call $deep (i64.add (local.get 0) (i64.const 1))))"
    );
    let module = program(&deep, "(call $deep (i64.const 0))");
    let sandbox = WasmSandbox::new();
    stopped(sandbox, &module, Limit::Stack, "512 KiB of stack").await;
}

#[tokio::test]
async fn k4_a_trap_is_named_with_the_end_of_the_standard_error() {
    let code =
        "(drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8))) unreachable";
    let module = program(HELLO, code);
    stopped(WasmSandbox::new(), &module, Limit::Trap, "`unreachable`").await;
    stopped(WasmSandbox::new(), &module, Limit::Trap, ":\nhello").await;
    let divided = program(HELLO, "(drop (i32.div_u (i32.const 1) (i32.const 0)))");
    stopped(WasmSandbox::new(), &divided, Limit::Trap, "divide by zero").await;
    let outside = program(HELLO, "(drop (i32.load (i32.const 65536)))");
    stopped(WasmSandbox::new(), &outside, Limit::Trap, "out of bounds").await;
}

/// The host reads and writes the memory of the module at the module's word, which may be a lie.
#[tokio::test]
async fn k4_addresses_outside_of_the_memory_are_a_trap() {
    for (list, count, at) in [
        ("65536", "1", "8"),
        ("-4", "1", "8"),
        ("0", "9000", "8"),
        ("0", "1", "65535"),
        ("0", "1", "-1"),
        ("24", "1", "8"),
    ] {
        for (call, file) in [("$write", 1), ("$read", 0)] {
            // At 24 stands a buffer of four gigabytes.
            let data = format!(r#"{HELLO} (data (i32.const 24) "\01\00\00\00\ff\ff\ff\ff")"#);
            let code = format!(
                "(drop (call {call} (i32.const {file}) (i32.const {list}) (i32.const {count}) (i32.const {at})))"
            );
            let module = program(&data, &code);
            stopped(WasmSandbox::new(), &module, Limit::Trap, "out of bounds").await;
        }
    }
}

/// Work of the host is paid for as instructions are.
#[tokio::test]
async fn k4_work_of_the_host_takes_fuel() {
    // 8,000 empty buffers with each call.
    let code = "(loop $again (drop (call $write (i32.const 1) (i32.const 1024) (i32.const 8000) (i32.const 8))) (br $again))";
    let module = program(HELLO, code);
    let sandbox = WasmSandbox::new().fuel(10_000_000);
    let begun = Instant::now();
    stopped(sandbox.clone(), &module, Limit::Fuel, "10000000").await;
    assert!(begun.elapsed() < Duration::from_secs(30));
    // As many buffers as there are numbers.
    let many = "(drop (call $write (i32.const 1) (i32.const 0) (i32.const -1) (i32.const 8)))";
    stopped(
        sandbox.clone(),
        &program(HELLO, many),
        Limit::Fuel,
        "10000000",
    )
    .await;
    let memory = r#"(memory (export "memory") 100)"#;
    let fill =
        "(loop $again (memory.fill (i32.const 0) (i32.const 1) (i32.const 6000000)) (br $again))";
    stopped(sandbox, &program(memory, fill), Limit::Fuel, "10000000").await;
}
