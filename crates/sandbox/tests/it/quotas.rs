use crate::{printed, python_in, stopped};
use agents_sandbox::{Limit, Sandbox};
use std::{
    fs,
    time::{Duration, Instant},
};

#[tokio::test]
async fn k4_a_memory_hog_is_stopped() {
    // At most a gigabyte, if the box should fail.
    let code = "hog = []\nfor _ in range(100):\n    hog.append(bytearray(10_000_000))";
    let sandbox = Sandbox::new().memory(64_000_000);
    let words = "more than 64 MB of memory; allow more with `.memory(..)`, or ask for less";
    stopped(sandbox, code, Limit::Memory, words).await;
}

#[tokio::test]
async fn k4_memory_that_no_limit_counts_is_not_given() {
    let memfd = "import os\nos.memfd_create('hog')";
    stopped(Sandbox::new(), memfd, Limit::SystemCall, "system call").await;
    let shared = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                  if libc.shmget(0, 1_000_000, 0o1600) < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))";
    stopped(Sandbox::new(), shared, Limit::SystemCall, "system call").await;
    let semaphores = shared.replace("shmget(0, 1_000_000", "semget(0, 32_000");
    stopped(
        Sandbox::new(),
        &semaphores,
        Limit::SystemCall,
        "system call",
    )
    .await;
}

#[tokio::test]
async fn k4_a_cpu_spin_is_stopped() {
    let sandbox = Sandbox::new().cpu(Duration::from_secs(1));
    let code = "while True: pass";
    stopped(sandbox.clone(), code, Limit::Cpu, "more than 1 s of CPU").await;
    let stubborn = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass";
    let sandbox = sandbox.time(Duration::from_secs(60));
    stopped(sandbox, stubborn, Limit::Killed, "1 s of CPU").await;
}

#[tokio::test]
async fn k4_a_gigabyte_of_output_is_stopped() {
    let code = "import sys\nfor _ in range(1000):\n    sys.stdout.write('x' * 1_000_000)";
    let begun = Instant::now();
    stopped(Sandbox::new(), code, Limit::Output, "64 kB of output").await;
    assert!(begun.elapsed() < Duration::from_secs(30));
    let code = "import sys\nfor _ in range(1000):\n    sys.stderr.write('x' * 1_000_000)";
    stopped(Sandbox::new(), code, Limit::Output, "`.output(..)`").await;
}

#[tokio::test]
async fn k4_long_output_is_cut_with_a_remark() {
    let code = "print('x' * 5000)";
    let Some(text) = printed(Sandbox::new().output(1_000), code).await else {
        return;
    };
    let expected = format!(
        "{}\n… (cut: these are 1000 of 5001 bytes)",
        "x".repeat(1_000)
    );
    assert_eq!(text, expected);
}

#[tokio::test]
async fn k4_many_descriptors_are_stopped() {
    let code = "files = []\nfor _ in range(1000):\n    files.append(open('/dev/null'))";
    let sandbox = Sandbox::new().open_files(32);
    stopped(sandbox, code, Limit::OpenFiles, "more than 32 files").await;
}

#[tokio::test]
async fn k4_a_full_disk_is_stopped() {
    // At most 200 MB, if the box should fail.
    for folder in ["/tmp", "/dev/shm", "/tmp/home"] {
        let code = format!(
            "for name in range(200):\n    open(f'{folder}/{{name}}', 'wb').write(bytes(1_000_000))"
        );
        let sandbox = Sandbox::new().disk(8_000_000);
        stopped(sandbox, &code, Limit::Disk, "larger than 8 MB").await;
    }
}

#[tokio::test]
async fn k4_a_large_file_is_stopped() {
    let code = "open('/tmp/large', 'wb').write(bytes(3_000_000))";
    let sandbox = Sandbox::new().file_size(1_000_000);
    stopped(sandbox.clone(), code, Limit::FileSize, "larger than 1 MB").await;
    let signalled =
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n".to_owned() + code;
    stopped(sandbox, &signalled, Limit::FileSize, "`.file_size(..)`").await;
}

#[tokio::test]
async fn k4_a_limit_that_the_program_copes_with_is_no_error() {
    let code = "try: bytearray(10_000_000_000)\nexcept MemoryError: print('less, then')";
    if let Some(ran) = python_in(Sandbox::new(), code).await {
        assert_eq!(ran.unwrap().stdout, "less, then\n");
    }
}

#[tokio::test]
async fn nothing_of_a_run_stays_on_the_host() {
    let folders = || {
        let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| name.starts_with("agents-sandbox-"))
            .collect::<Vec<_>>()
    };
    let code =
        "import os\nprint([os.readlink('/proc/self/cwd')], open('/proc/self/mountinfo').read())";
    let Some(text) = printed(Sandbox::new(), code).await else {
        return;
    };
    let (_, name) = text.split_once("agents-sandbox-").unwrap();
    let name = format!("agents-sandbox-{}", name.split('/').next().unwrap());
    assert!(!folders().contains(&name), "{name}");
}

/// The limits hold for each process, and so for the whole box: its memory is never more than their product.
#[tokio::test]
async fn k4_all_processes_together_have_at_most_memory_times_processes() {
    // At most a gigabyte, if the box should fail. Each process takes as much as it gets, and tells how much that is.
    let code = "
import os, time
read, write = os.pipe()
children = 0
try:
    while children < 20:
        if os.fork() == 0:
            got, hog = 0, []
            try:
                while got < 50:
                    hog.append(bytearray(1_000_000))
                    got += 1
            except MemoryError:
                pass
            os.write(write, b'%d\\n' % got)
            time.sleep(60)
        children += 1
except BlockingIOError:
    pass
told = b''
while told.count(b'\\n') < children:
    told += os.read(read, 1000)
print(children, sum(map(int, told.split())), max(map(int, told.split())))";
    let sandbox = Sandbox::new().processes(4).memory(40_000_000);
    let Some(text) = printed(sandbox, code).await else {
        return;
    };
    let figures = text
        .split_whitespace()
        .map(|figure| figure.parse().unwrap());
    let figures: Vec<usize> = figures.collect();
    let [children, together, most] = figures[..] else {
        panic!("{text}")
    };
    assert_eq!(children, 3, "four processes, of which one is the first");
    assert!(most < 40 && together < 3 * 40, "{text}");
}
