use crate::{SandboxError, wording};

/// Work of one call for the program of a [`CommandTool`](crate::CommandTool): arguments, standard input and files. The
/// module of a `WasmTool` gets arguments and standard input; a job with files is an error there.
///
/// Each argument reaches the program as it is. No shell reads it. An argument that begins with `-` may be an option for the
/// program: put `--` before what a model wrote, or hand it over in the standard input or a file.
///
/// ```
/// use agents_sandbox::Job;
///
/// let job = Job::new()
///     .args(["--count", "--"])
///     .arg("*.txt; rm -rf /") // one argument, of which nothing is expanded
///     .stdin("text for the program")
///     .file("table.csv", "a,b\n1,2\n"); // /input/table.csv
/// # let _ = job;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub(crate) args: Vec<String>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// Maximum length of an argument that Linux takes, in bytes.
const LONGEST: usize = 131_071;

/// Maximum number of bytes of all arguments. Linux takes more, but the tools that start the program add their own.
const MOST: usize = 1_000_000;

impl Job {
    /// Creates a job without arguments, input and files.
    pub fn new() -> Self {
        Job::default()
    }

    /// Adds an argument for the program.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments for the program.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the standard input of the program; empty by default.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Adds a file that the program finds under this name in the folder `/input`, which it cannot write.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.into(), bytes.into()));
        self
    }

    /// Checks that the program can be given this job: for example, no argument is too long.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        for arg in &self.args {
            if arg.contains('\0') {
                return Err(SandboxError::job(wording::nul_in_argument(arg)));
            }
            if arg.len() > LONGEST {
                return Err(SandboxError::job(wording::argument_too_long(arg.len())));
            }
        }
        let all = self.args.iter().map(|arg| arg.len() + 9).sum::<usize>();
        if all > MOST {
            return Err(SandboxError::job(wording::arguments_too_long(all)));
        }
        for (index, (name, _)) in self.files.iter().enumerate() {
            let is_name = !matches!(&**name, "" | "." | "..")
                && name.len() <= 255
                && !name.contains(['/', '\0']);
            if !is_name {
                return Err(SandboxError::job(wording::not_a_file_name(name)));
            }
            if self.files[..index]
                .iter()
                .any(|(earlier, _)| earlier == name)
            {
                return Err(SandboxError::job(wording::file_twice(name)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_program_can_be_given_is_refused() {
        let long = "x".repeat(LONGEST + 1);
        let many = vec!["x".repeat(LONGEST); 8];
        for job in [
            Job::new().arg("a\0b"),
            Job::new().arg(long),
            Job::new().args(many),
            Job::new().file("", ""),
            Job::new().file("..", ""),
            Job::new().file("../escaped", ""),
            Job::new().file("/etc/passwd", ""),
            Job::new().file("twice", "").file("twice", ""),
        ] {
            assert!(job.check().is_err(), "{job:?}");
        }
        let job = Job::new().arg("").arg("-x").file("..a", "").file("a b", "");
        assert_eq!(job.check(), Ok(()));
    }
}
