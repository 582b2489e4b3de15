use crate::{Folder, has_boxes, printed, python_in, stopped, unique};
use agents_sandbox::{Limit, Sandbox};
use std::{env, fs, os::unix::fs::symlink, process::Command};

#[tokio::test]
async fn k4_files_of_the_host_are_not_there() {
    let folder = Folder::new("secret");
    fs::write(folder.path().join("key"), "secret").unwrap();
    let key = folder.path().join("key").display().to_string();
    // What is below `/usr` is in the box.
    let mut paths = vec![key];
    paths.extend(
        Some(env!("CARGO_MANIFEST_DIR").to_owned())
            .filter(|manifest| !manifest.starts_with("/usr")),
    );
    let code = format!(
        "import os\nfor path in ['/etc/shadow', '/etc/passwd', '/etc/hostname', '/root', '/home', '/work', '/var', '/run', \
         '/sys', '/srv', '/opt', '/boot'] + {paths:?}:\n    print(path, os.path.lexists(path))\n"
    );
    let Some(text) = printed(Sandbox::new(), &code).await else {
        return;
    };
    assert_eq!(text.lines().count(), 12 + paths.len(), "{text}");
    for line in text.lines() {
        assert!(line.ends_with(" False"), "{line}");
    }
    let code = "open('/etc/shadow')";
    let ran = python_in(Sandbox::new(), code).await.unwrap().unwrap();
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("FileNotFoundError"), "{ran:?}");
}

#[tokio::test]
async fn k4_the_root_has_what_is_needed_and_nothing_else() {
    let code = "import os\nprint(sorted(os.listdir('/')), sorted(os.listdir('/etc')), os.listdir(os.environ['HOME']))";
    let Some(text) = printed(Sandbox::new(), code).await else {
        return;
    };
    let known = [
        "bin",
        "dev",
        "etc",
        "input",
        "lib",
        "lib32",
        "lib64",
        "proc",
        "sbin",
        "tmp",
        "usr",
        "alternatives",
        "ld.so.cache",
    ];
    let names: Vec<_> = text.split('\'').skip(1).step_by(2).collect();
    assert!(names.iter().all(|name| known.contains(name)), "{text}");
    for needed in ["dev", "etc", "input", "proc", "tmp", "usr"] {
        assert!(names.contains(&needed), "{needed}: {text}");
    }
    assert!(text.trim_end().ends_with("[]"), "an empty home: {text}");
}

#[tokio::test]
async fn k4_the_environment_of_the_agent_is_not_there() {
    // cargo gives the test this variable, so that there is something to be seen.
    assert!(env::var("CARGO_MANIFEST_DIR").is_ok());
    let code = "import glob, os\nprint(sorted(os.environ))\nfor path in glob.glob('/proc/[0-9]*/environ'):\n    \
                print(path, open(path, 'rb').read())";
    let sandbox = Sandbox::new().env("SAID", "yes");
    let Some(text) = printed(sandbox, code).await else {
        return;
    };
    let names = text.lines().next().unwrap();
    assert_eq!(names, "['HOME', 'LANG', 'PATH', 'PWD', 'SAID']");
    assert!(text.contains("/proc/1/environ"), "{text}");
    assert!(!text.contains("CARGO"), "{text}");
}

#[tokio::test]
async fn k4_nothing_is_written_outside() {
    for path in [
        "/x",
        "/usr/x",
        "/usr/bin/x",
        "/etc/x",
        "/dev/x",
        "/input/x",
        "/input/main.py",
        "/lib/x",
    ] {
        let code = format!("open({path:?}, 'w')");
        stopped(Sandbox::new(), &code, Limit::Files, "`.writable(..)`").await;
    }
}

#[tokio::test]
async fn k4_a_mounted_folder_has_no_way_out() {
    let outside = Folder::new("outside");
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let folder = outside.path().join("mounted");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("inside"), "read me").unwrap();
    symlink(outside.path().join("secret"), folder.join("absolute")).unwrap();
    symlink("../secret", folder.join("relative")).unwrap();
    symlink("/etc/shadow", folder.join("shadow")).unwrap();
    let code = "import os\nprint(open('/data/inside').read())\n\
                for name in ['absolute', 'relative', 'shadow', '../secret', '../mounted/../secret', '../../etc/shadow']:\n\
                \x20   try: print('ESCAPED', open('/data/' + name).read())\n\
                \x20   except FileNotFoundError: print('stopped')\n\
                try: os.mkdir('/data/new'); print('ESCAPED')\n\
                except OSError as error: print(error.strerror)";
    let sandbox = Sandbox::new().read_only(&folder, "/data");
    let Some(text) = printed(sandbox, code).await else {
        return;
    };
    let expected = format!("read me\n{}Read-only file system\n", "stopped\n".repeat(6));
    assert_eq!(text, expected);
}

#[tokio::test]
async fn k4_a_writable_folder_is_written_and_its_links_lead_nowhere() {
    let folder = Folder::new("writable");
    let outside = Folder::new("outside");
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let code = format!(
        "import os\nopen('/out/result', 'w').write('done')\nos.symlink({:?}, '/out/link')\n\
         try: print('ESCAPED', open('/out/link/secret').read())\nexcept FileNotFoundError: print('stopped')",
        outside.path()
    );
    let sandbox = Sandbox::new().writable(folder.path(), "/out");
    let Some(text) = printed(sandbox, &code).await else {
        return;
    };
    assert_eq!(text, "stopped\n");
    let result = fs::read_to_string(folder.path().join("result")).unwrap();
    assert_eq!(result, "done");
}

#[tokio::test]
async fn k4_runs_share_no_files() {
    let code = "import os\nprint(os.listdir('/tmp'), os.listdir('/dev/shm'))\nopen('/tmp/x', 'w')\nopen('/dev/shm/x', 'w')";
    for _ in 0..2 {
        if let Some(text) = printed(Sandbox::new(), code).await {
            assert_eq!(text, "['home'] []\n");
        }
    }
}

/// The test below, with the root of the host open as descriptor 9, which no child should get.
#[test]
fn k4_files_that_the_agent_left_open_are_closed() {
    if !has_boxes() {
        return;
    }
    let marker = unique("fd");
    let inner = Command::new("/bin/bash")
        .args([
            "-c",
            "exec 9< /; exec \"$0\" files::descriptors_of_the_box --exact --ignored --nocapture",
        ])
        .arg(env::current_exe().unwrap())
        .env("AGENTS_ESCAPE_MARKER", &marker)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&inner.stdout);
    assert!(inner.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn descriptors_of_the_box() {
    // Run by name only, so that the descriptor is there.
    if env::var("AGENTS_ESCAPE_MARKER").is_err() {
        return;
    }
    assert!(fs::read_dir("/proc/self/fd/9").unwrap().count() > 0);
    let code =
        "import os\nprint([fd for fd in range(256) if os.path.exists(f'/proc/self/fd/{fd}')])";
    let Some(text) = printed(Sandbox::new(), code).await else {
        return;
    };
    assert_eq!(text, "[0, 1, 2]\n");
}
