use super::{Ready, run_folder::RunFolder, running::Running, spawner, verdict};
use crate::{
    Job, Limit, Ran, SandboxError,
    capture::{Capture, Stopped},
    wording,
};
use std::{io, os::unix::process::ExitStatusExt, process::ExitStatus};
use tokio::{
    io::AsyncWriteExt,
    process::{ChildStdin, Command},
    time::timeout,
};
use tracing::Instrument;

/// Runs the program of a box with this job. If the future is dropped, the box is killed with all its processes.
pub(super) async fn run(ready: &Ready, job: Job) -> Result<Ran, SandboxError> {
    let sandbox = &ready.sandbox;
    let span = tracing::info_span!(
        "sandbox",
        program = %ready.program.display(),
        time_ms = u64::try_from(sandbox.time.as_millis()).unwrap_or(u64::MAX),
        cpu_s = sandbox.cpu_seconds(),
        memory = sandbox.memory,
        processes = sandbox.processes,
        open_files = sandbox.open_files,
        file_size = sandbox.file_size,
        disk = sandbox.disk,
        output = sandbox.output,
        status = tracing::field::Empty,
        limit = tracing::field::Empty,
    );
    let work = async {
        let ran = in_box(ready, job).await;
        let span = tracing::Span::current();
        match &ran {
            Ok(ran) => span.record("status", ran.status),
            Err(error) => span.record("limit", tracing::field::debug(error.limit())),
        };
        ran
    };
    work.instrument(span).await
}

async fn in_box(ready: &Ready, job: Job) -> Result<Ran, SandboxError> {
    let (sandbox, launcher) = (&ready.sandbox, &ready.launcher);
    let failed = |error: io::Error| SandboxError::start(wording::not_started(&error));
    job.check()?;
    if let Some(source) = launcher.moved() {
        return Err(SandboxError::start(wording::folder_moved(source)));
    }
    let folder =
        RunFolder::create(&launcher.filters, &job.files, launcher.steps_down).map_err(failed)?;
    let command = launcher.command(sandbox, &folder, &ready.program, &job.args);
    let mut command = Command::from(command);
    command.kill_on_drop(true);
    let breach = |limit| SandboxError::breach(limit, wording::breach(limit, sandbox));

    let mut running = spawner::spawn(command).await.map_err(failed)?;
    let ended = timeout(
        sandbox.time,
        to_its_end(&mut running, &job.stdin, sandbox.output),
    )
    .await;
    if !matches!(ended, Ok(Ok(_))) {
        running.kill().await.map_err(failed)?;
    }
    let (status, out, err) = match ended {
        Err(_) => return Err(breach(Limit::Time)),
        Ok(Err(Stopped::TooMuch)) => return Err(breach(Limit::Output)),
        Ok(Err(Stopped::Failed(error))) => return Err(failed(error)),
        Ok(Ok(ended)) => ended,
    };
    let status = number(status);
    if let Some(error) = verdict::not_started(status, &out, &err) {
        return Err(error);
    }
    match verdict::breach(status, &err, sandbox) {
        Some(error) => Err(error),
        None => Ok(Ran::new(
            status,
            (&out.begin, out.total),
            (&err.begin, err.total),
        )),
    }
}

/// Waits until the program and its outputs have ended.
async fn to_its_end(
    running: &mut Running,
    input: &[u8],
    most: usize,
) -> Result<(ExitStatus, Capture, Capture), Stopped> {
    let (stdin, out, err) = running.pipes();
    let feed = feed(stdin, input);
    let out = Capture::read(out, most);
    let err = Capture::read(err, most);
    let end = async { running.wait().await.map_err(Stopped::Failed) };
    let ended = async { tokio::try_join!(out, err, end) };
    // A program need not read its input: what is left of it then is dropped.
    tokio::pin!(ended);
    let (out, err, status) = tokio::select! {
        ended = &mut ended => ended?,
        () = feed => ended.await?,
    };
    Ok((status, out, err))
}

async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        // An error says that the program has closed its input.
        let _ = stdin.write_all(input).await;
    }
}

/// Returns the exit status of a box as one number. bubblewrap tells a signal that ended the program by a status above
/// 128.
fn number(status: ExitStatus) -> i32 {
    let by_signal = || status.signal().map_or(1, |signal| 128 + signal);
    status.code().unwrap_or_else(by_signal)
}
