use crate::{printed, python_in, stopped};
use agents_sandbox::{Limit, Sandbox};

const LIBC: &str = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n";

#[tokio::test]
async fn s5_10_k4_forbidden_system_calls_kill_the_program() {
    for (name, call) in [
        ("ptrace", "libc.ptrace(16, os.getppid(), 0, 0)"),
        ("mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)"),
        ("umount", "libc.umount2(b'/input', 2)"),
        ("unshare", "libc.unshare(0x10000000)"),
        ("setns", "libc.setns(0, 0)"),
        ("chroot", "libc.chroot(b'/tmp')"),
        ("bpf", "libc.syscall(321, 0, 0, 0)"),
        ("keyctl", "libc.syscall(250, 0, -3, 0)"),
        (
            "process_vm_readv",
            "libc.process_vm_readv(1, 0, 0, 0, 0, 0)",
        ),
        ("pivot_root", "libc.syscall(155, b'/', b'/')"),
    ] {
        if cfg!(not(target_arch = "x86_64")) && call.contains("syscall") {
            continue; // the numbers are those of x86_64
        }
        let code = format!("{LIBC}print({name:?}, flush=True)\n{call}");
        stopped(Sandbox::new(), &code, Limit::SystemCall, "forbids").await;
    }
}

#[tokio::test]
async fn k4_io_uring_does_not_exist() {
    let code = format!("{LIBC}print(libc.syscall(425, 8, 0), ctypes.get_errno())");
    if let Some(text) = printed(Sandbox::new(), &code).await {
        assert_eq!(text, "-1 38\n");
    }
}

#[tokio::test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "the number of the call is that of x86_64"
)]
async fn k4_no_user_namespace_is_made_by_clone() {
    // CLONE_NEWUSER | SIGCHLD, by the system call itself.
    let code = format!(
        "{LIBC}pid = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)\nprint(pid)"
    );
    if let Some(text) = printed(Sandbox::new(), &code).await {
        assert_eq!(text, "-1\n");
    }
}

#[tokio::test]
async fn k4_setuid_programs_give_no_rights() {
    let code = "import os, subprocess\n\
                paths = [path for path in ['/usr/bin/su', '/usr/bin/mount', '/usr/bin/passwd'] if os.path.exists(path)]\n\
                print(any(os.stat(path).st_mode & 0o4000 for path in paths))\n\
                status = open('/proc/self/status').read()\n\
                print('NoNewPrivs:\\t1' in status, [line.split()[1] for line in status.splitlines() if line.startswith('Cap')])\n\
                for path in paths:\n\
                \x20   ran = subprocess.run([path, '-c', 'id -u'], capture_output=True, stdin=subprocess.DEVNULL)\n\
                \x20   print(ran.returncode != 0, b'0\\n' in ran.stdout)";
    let Some(text) = printed(Sandbox::new(), code).await else {
        return;
    };
    let mut lines = text.lines();
    assert!(
        lines.next().is_some(),
        "whether there is such a program depends on the machine"
    );
    let none = "0000000000000000";
    let expected = format!("True ['{none}', '{none}', '{none}', '{none}', '{none}']");
    assert_eq!(lines.next(), Some(&*expected));
    for line in lines {
        assert_eq!(line, "True False");
    }
}

#[tokio::test]
async fn k4_settings_of_the_kernel_are_not_written() {
    let code = "for path in ['/proc/sys/kernel/hostname', '/proc/sys/vm/drop_caches', '/proc/sys/kernel/core_pattern', \
                '/proc/sysrq-trigger', '/proc/1/oom_score_adj', '/proc/self/uid_map']:\n\
                \x20   try:\n\
                \x20       with open(path, 'w') as file: file.write('0 0 1')\n\
                \x20       print('ESCAPED', path)\n\
                \x20   except OSError as error: print('stopped')";
    if let Some(text) = printed(Sandbox::new(), code).await {
        assert_eq!(text, "stopped\n".repeat(6));
    }
}

#[tokio::test]
async fn k4_the_first_process_is_the_box() {
    let code = "import os\nprint(sorted(os.listdir('/proc/1/root')) == sorted(os.listdir('/')))\n\
                print([os.path.exists('/proc/1/root' + path) for path in ['/root', '/home', '/etc/passwd', '/work']])\n\
                print(os.listdir('/proc/1/fd'))";
    let Some(ran) = python_in(Sandbox::new(), code).await else {
        return;
    };
    let ran = ran.unwrap();
    let first: Vec<_> = ran.stdout.lines().take(2).collect();
    // Either the first process shows its root, which is that of the box, or nothing of itself.
    let shown = first == ["True", "[False, False, False, False]"];
    assert!(shown || ran.stderr.contains("PermissionError"), "{ran:?}");
}

#[tokio::test]
async fn k4_the_memory_of_the_kernel_is_not_read() {
    let code = "for path in ['/proc/kcore', '/dev/mem', '/dev/kmsg', '/proc/kmsg', '/dev/vda', '/dev/sda']:\n\
                \x20   try:\n\
                \x20       open(path, 'rb').read(16)\n\
                \x20       print('ESCAPED', path)\n\
                \x20   except OSError: print('stopped')";
    if let Some(text) = printed(Sandbox::new(), code).await {
        assert_eq!(text, "stopped\n".repeat(6));
    }
}
