use crate::{call, has_boxes, printed, processes_with, python_in, stopped, unique, wait_until};
use agents_core::{Effects, Tool, ToolContext};
use agents_sandbox::{CommandTool, Job, Limit, PythonTool, Sandbox};
use std::{
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

/// Code that starts a process which outlives its parent, with this text in its command line.
fn orphan(marker: &str) -> String {
    format!(
        "import subprocess, sys, time\n\
         subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {marker:?}], start_new_session=True)\n"
    )
}

#[tokio::test]
async fn k4_processes_of_the_host_are_not_seen() {
    let code = "import os\nprint(sum(name.isdigit() for name in os.listdir('/proc')))";
    let Some(text) = printed(Sandbox::new(), code).await else {
        return;
    };
    let seen: usize = text.trim().parse().unwrap();
    assert!((2..=3).contains(&seen), "the box's own processes: {seen}");
}

#[tokio::test]
async fn k4_processes_of_the_host_are_not_killed() {
    let mut victim = Command::new("/bin/sleep")
        .arg("60")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let code = format!("import os\nos.kill({}, 9)", victim.id());
    let ran = python_in(Sandbox::new(), &code).await;
    if let Some(ran) = ran {
        let ran = ran.unwrap();
        assert!(ran.stderr.contains("ProcessLookupError"), "{ran:?}");
        // Whatever it reaches, it kills: that is its own box. It looks first, so that it does no harm if the box should fail.
        let code = "import os\nassert sum(name.isdigit() for name in os.listdir('/proc')) < 5\nos.kill(-1, 9)";
        stopped(Sandbox::new(), code, Limit::Killed, "was killed").await;
        assert!(victim.try_wait().unwrap().is_none(), "it was killed");
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[tokio::test]
async fn k4_a_fork_bomb_is_stopped() {
    // Bounded, so that it does little harm if the box should fail.
    let bomb = "import os, time\ncount = 0\nfor _ in range(200):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)\n";
    let sandbox = Sandbox::new().processes(20);
    stopped(sandbox.clone(), bomb, Limit::Processes, "20 processes").await;

    let code = "import os, time\ncount = 1\ntry:\n    for _ in range(200):\n        if os.fork() == 0:\n            time.sleep(60)\n\
                \x20           os._exit(0)\n        count += 1\nexcept BlockingIOError:\n    print(count)";
    if let Some(text) = printed(sandbox, code).await {
        assert_eq!(text.trim(), "20");
    }
    let threads = "import threading, time\nfor _ in range(200):\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()";
    let sandbox = Sandbox::new().processes(20).memory(2_000_000_000);
    stopped(sandbox, threads, Limit::Processes, "`.processes(..)`").await;
}

#[tokio::test]
async fn k4_a_child_does_not_outlive_the_program() {
    let marker = unique("orphan");
    let code = orphan(&marker) + "time.sleep(0.3); print('started')";
    let Some(text) = printed(Sandbox::new(), &code).await else {
        return;
    };
    assert_eq!(text, "started\n");
    assert_eq!(processes_with(&marker), [0; 0]);
}

#[tokio::test]
async fn k4_sleeping_past_the_deadline_ends_the_whole_box() {
    let marker = unique("deadline");
    let code = orphan(&marker) + "time.sleep(60)";
    let begun = Instant::now();
    let sandbox = Sandbox::new().time(Duration::from_millis(1_500));
    stopped(sandbox, &code, Limit::Time, "within 1.5s").await;
    assert!(begun.elapsed() < Duration::from_secs(30));
    wait_until("the box goes on", || processes_with(&marker).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k4_a_cancelled_call_ends_the_whole_box() {
    if !has_boxes() {
        return;
    }
    let marker = unique("cancelled");
    let code = orphan(&marker) + "time.sleep(60)";
    let sandbox = Sandbox::new().time(Duration::from_secs(60));
    let tool = PythonTool::new(Effects::None, sandbox).unwrap();
    let task = tokio::spawn(async move { call(&tool, &code).await });
    wait_until("it does not start", || !processes_with(&marker).is_empty());
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    wait_until("the box goes on", || processes_with(&marker).is_empty());
}

/// bubblewrap can be killed before the box dies with it. Whenever a call is cancelled, nothing is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn k4_a_call_that_is_cancelled_at_once_leaves_nothing() {
    if !has_boxes() {
        return;
    }
    // `sleep` takes fractions of seconds, so that this one can be told from others.
    let seconds = format!("60.{}{}", std::process::id(), 4_711);
    let of = |seconds: String| Job::new().arg(seconds);
    let sandbox = Sandbox::new().time(Duration::from_secs(60));
    let tool = CommandTool::new(
        "sleep",
        "Sleeps.",
        Effects::None,
        "/usr/bin/sleep",
        sandbox,
        of,
    );
    let tool = Arc::new(tool.unwrap());
    for step in 0..40 {
        let (tool, seconds) = (tool.clone(), seconds.clone());
        let task = tokio::spawn(async move {
            let _ = tool.call(seconds, &ToolContext::detached("sleep")).await;
        });
        tokio::time::sleep(Duration::from_micros(700 * step)).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    wait_until("a box goes on", || processes_with(&seconds).is_empty());

    // The same for a deadline that is over before the box is ready.
    let code = "import time\ntime.sleep(60)";
    for step in 1..=10 {
        let sandbox = Sandbox::new().time(Duration::from_millis(2 * step));
        stopped(sandbox, code, Limit::Time, "did not end within").await;
    }
}

/// A box is killed when the thread that started it ends, and threads of runtimes end.
#[test]
fn a_box_outlives_the_thread_that_asked_for_it() {
    if !has_boxes() {
        return;
    }
    let tool = PythonTool::new(Effects::None, Sandbox::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    let marker = unique("thread");
    let code = format!(
        "import sys, time\n# {marker}\nopen('/tmp/ready', 'w')\ntime.sleep(1.5)\nprint('alive')"
    );
    let mut call = Box::pin(async move { call(&tool, &code).await });
    // A thread polls the call until the box runs, and ends. Another one goes on.
    let asked = std::thread::spawn(move || {
        let begin = async { tokio::time::timeout(Duration::from_millis(700), &mut call).await };
        assert!(handle.block_on(begin).is_err(), "it has only begun");
        call
    });
    let call = asked.join().unwrap();
    let ran = runtime.block_on(call).unwrap();
    assert_eq!(ran.stdout, "alive\n");
}
