use crate::{Folder, has_boxes, unique};
use agents_core::{Effects, Tool, ToolContext, tool::Category};
use agents_sandbox::{CommandTool, Job, PythonTool, Sandbox, Unenforced};
use std::{fs, time::Duration};

fn command(
    effects: Effects,
    program: &str,
    sandbox: Sandbox,
) -> Result<CommandTool<String>, Unenforced> {
    let job = |text: String| Job::new().stdin(text);
    CommandTool::new("count", "Counts words.", effects, program, sandbox, job)
}

fn refused(effects: Effects, program: &str, sandbox: Sandbox, words: &str) {
    let error = command(effects, program, sandbox).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn k4_what_cannot_be_enforced_is_refused_when_the_tool_is_made() {
    if !has_boxes() {
        return;
    }
    let none = Effects::None;
    let folder = Folder::new("platform");
    refused(
        none,
        "/usr/bin/no-such-program",
        Sandbox::new(),
        "is no program in the box",
    );
    refused(none, "/usr/bin", Sandbox::new(), "is no program in the box");
    refused(
        none,
        "/etc/hosts",
        Sandbox::new(),
        "is no program in the box",
    );
    refused(
        none,
        "/usr/bin/wc",
        Sandbox::new().memory(u64::MAX),
        "address space",
    );
    refused(
        none,
        "/usr/bin/wc",
        Sandbox::new().memory(1_000),
        "no box can be made",
    );
    refused(
        none,
        "/usr/bin/wc",
        Sandbox::new().disk(u64::MAX),
        "no box can be made",
    );
    refused(
        none,
        "/usr/bin/wc",
        Sandbox::new().read_only("/no/such", "/data"),
        "create it first",
    );
    refused(
        none,
        "/usr/bin/wc",
        Sandbox::new().read_only("/", "/data"),
        "whole machine",
    );
    refused(
        none,
        "/usr/bin/wc",
        Sandbox::new().read_only(folder.path(), "/usr/data"),
        "no place",
    );
    refused(none, "/usr/bin/wc", Sandbox::new().env("A=B", ""), "A=B");
    let preloaded = Sandbox::new().env("LD_PRELOAD", "/data/x.so");
    refused(none, "/usr/bin/wc", preloaded, "LD_PRELOAD");
    let writable = Sandbox::new().writable(folder.path(), "/out");
    refused(
        none,
        "/usr/bin/wc",
        writable.clone(),
        "declare `Effects::Writes`",
    );
    let tool = command(Effects::Writes, "/usr/bin/wc", writable.clone()).unwrap();
    let tool = tool.specified(|mut spec| {
        spec.effects = Effects::None;
        spec
    });
    assert_eq!(tool.spec().effects, Effects::Writes);
    assert!(command(none, "/usr/bin/wc", Sandbox::new().processes(1)).is_ok());
    // A folder of the host that the program could not write after all.
    fs::set_permissions(
        folder.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o555),
    )
    .unwrap();
    refused(
        Effects::Writes,
        "/usr/bin/wc",
        writable,
        "cannot be written",
    );
}

#[test]
fn a_folder_that_is_a_link_is_mounted_as_what_it_is_when_the_tool_is_made() {
    if !has_boxes() {
        return;
    }
    let folder = Folder::new("link");
    let link = folder.path().join(unique("link"));
    std::os::unix::fs::symlink("/proc", &link).unwrap();
    let sandbox = Sandbox::new().read_only(&link, "/data");
    refused(Effects::None, "/usr/bin/wc", sandbox, "whole machine");
}

#[test]
fn the_description_tells_the_model_the_limits() {
    if !has_boxes() {
        return;
    }
    let folder = Folder::new("described");
    let sandbox = Sandbox::new()
        .memory(64_000_000)
        .time(Duration::from_secs(3))
        .read_only(folder.path(), "/data");
    let tool = PythonTool::new(Effects::Reads, sandbox)
        .unwrap()
        .specified(|spec| spec.version("2.0.0"));
    let spec = tool.spec();
    assert_eq!(
        spec.description,
        "Runs Python 3 code and returns its exit status and what it printed. Nothing is kept between calls. It runs in a box \
         without a network. Limits: 3s, 5 s of CPU, 64 MB of memory, 16 processes, 64 open files, 16 MB for a file, 64 MB for \
         all files in `/tmp`; output beyond 64 kB is cut. `/data` is read-only."
    );
    assert_eq!((&*spec.name, &*spec.version), ("run_python", "2.0.0"));
    assert_eq!(
        (spec.effects, spec.category),
        (Effects::Reads, Category::Code)
    );
    assert_eq!(spec.timeout, Some(Duration::from_secs(8)));
    assert_eq!(spec.input_schema["required"][0], "code");
    assert!(spec.output_schema.as_ref().unwrap()["properties"]["stdout"].is_object());
}

#[test]
fn k4_folders_that_overlap_and_can_be_written_are_refused() {
    if !has_boxes() {
        return;
    }
    let folder = Folder::new("overlap");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let sandbox = Sandbox::new().writable(folder.path(), "/out");
    let overlapping = sandbox.clone().read_only(&inner, "/data");
    let writes = Effects::Writes;
    refused(writes, "/usr/bin/wc", overlapping, "do not overlap");
    let within = sandbox.read_only("/usr/share", "/out/data");
    refused(writes, "/usr/bin/wc", within, "outside of that");
    let runs = Sandbox::new().read_only(std::env::temp_dir(), "/data");
    refused(writes, "/usr/bin/wc", runs, "temporary folder");
}

#[tokio::test]
async fn k4_a_folder_that_has_become_a_link_is_not_mounted() {
    if !has_boxes() {
        return;
    }
    let folder = Folder::new("replaced");
    let source = folder.path().join("source");
    fs::create_dir(&source).unwrap();
    let sandbox = Sandbox::new().read_only(&source, "/data");
    let tool = command(Effects::Reads, "/usr/bin/wc", sandbox).unwrap();
    let cx = ToolContext::detached("count");
    assert_eq!(tool.call("text".into(), &cx).await.unwrap().status, 0);
    fs::remove_dir(&source).unwrap();
    std::os::unix::fs::symlink("/", &source).unwrap();
    let error = tool.call("text".into(), &cx).await.unwrap_err();
    assert_eq!(error.limit(), None);
    assert!(error.to_string().contains("replaced"), "{error}");
}
