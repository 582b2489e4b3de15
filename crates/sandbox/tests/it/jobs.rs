use crate::has_boxes;
use agents_core::{Code, Effects, Tool, ToolContext, ToolFailure};
use agents_sandbox::{CommandTool, Job, Ran, Sandbox, SandboxError};

/// Runs a program with a job; `None` without a box.
async fn run(program: &str, job: Job) -> Option<Result<Ran, SandboxError>> {
    if !has_boxes() {
        return None;
    }
    let of = move |(): ()| job.clone();
    let tool = CommandTool::new("run", "Runs.", Effects::None, program, Sandbox::new(), of);
    Some(tool.unwrap().call((), &ToolContext::detached("run")).await)
}

#[tokio::test]
async fn arguments_reach_the_program_as_they_are() {
    let args = [
        "%s|", "*", "$(id)", "; id", "`id`", "a b", "", "--help", "\n",
    ];
    if let Some(ran) = run("/usr/bin/printf", Job::new().args(args)).await {
        assert_eq!(ran.unwrap().stdout, "*|$(id)|; id|`id`|a b||--help|\n|");
    }
}

#[tokio::test]
async fn input_and_files_reach_the_program() {
    let job = Job::new()
        .args(["-", "/input/b.txt"])
        .stdin("from stdin, ")
        .file("b.txt", "from a file");
    if let Some(ran) = run("/usr/bin/cat", job).await {
        let ran = ran.unwrap();
        assert_eq!((ran.status, &*ran.stdout), (0, "from stdin, from a file"));
    }
}

#[tokio::test]
async fn input_that_is_not_read_does_not_hold_the_program_up() {
    let job = Job::new().stdin(vec![b'x'; 3_000_000]);
    if let Some(ran) = run("/usr/bin/true", job).await {
        assert_eq!(ran.unwrap().status, 0);
    }
    let job = Job::new().stdin(vec![b'x'; 300_000]);
    if let Some(ran) = run("/usr/bin/wc", job.arg("-c")).await {
        assert_eq!(ran.unwrap().stdout.trim(), "300000");
    }
}

#[tokio::test]
async fn a_status_other_than_0_is_a_result() {
    let job = Job::new().args(["-c", "echo out; echo err >&2; exit 3"]);
    if let Some(ran) = run("/bin/sh", job).await {
        let ran = ran.unwrap();
        assert_eq!(
            (ran.status, &*ran.stdout, &*ran.stderr),
            (3, "out\n", "err\n")
        );
    }
}

#[tokio::test]
async fn a_job_that_no_program_can_be_given_is_a_mistake_of_the_arguments() {
    let escaped = Job::new().file("../escaped", "x");
    if let Some(ran) = run("/usr/bin/true", escaped).await {
        let error = ran.unwrap_err();
        assert_eq!((error.code(), error.limit()), (Code::ValidationError, None));
    }
    // The most that is taken is taken by the kernel, too.
    let most = Job::new().args(vec!["x".repeat(131_071); 7]);
    if let Some(ran) = run("/usr/bin/true", most).await {
        assert_eq!(ran.unwrap().status, 0);
    }
}

#[tokio::test]
async fn boxes_at_once_do_not_meet() {
    if !has_boxes() {
        return;
    }
    let of = |name: String| {
        Job::new().args([
            "-c",
            "echo $0 > /tmp/name; sleep 0.2; cat /tmp/name; ls /tmp",
            &name,
        ])
    };
    // The limit of processes holds for each box.
    let sandbox = Sandbox::new().processes(3);
    let tool = CommandTool::new("name", "Names.", Effects::None, "/bin/sh", sandbox, of).unwrap();
    let cx = ToolContext::detached("name");
    let (a, b, c, d) = tokio::join!(
        tool.call("a".into(), &cx),
        tool.call("b".into(), &cx),
        tool.call("c".into(), &cx),
        tool.call("d".into(), &cx),
    );
    for (ran, name) in [(a, "a"), (b, "b"), (c, "c"), (d, "d")] {
        assert_eq!(ran.unwrap().stdout, format!("{name}\nhome\nname\n"));
    }
}
