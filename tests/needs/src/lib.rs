//! Servers and programs that the tests of this repository need beside a Rust toolchain, and skipped tests without them.
//!
//! A test that lacks something calls [`Need::missing`], and returns. A line on standard error says so, once for each need
//! and process. `AGENTS_REQUIRE=postgres,bwrap` makes it a failure: whoever has installed something does not want its
//! tests to be skipped. `AGENTS_REQUIRE=all` stands for all that `cargo test --workspace` can use.

#[cfg(all(feature = "postgres", unix))]
pub mod postgres;

use std::{
    collections::BTreeSet,
    env,
    fmt::Display,
    io::{self, Write},
    sync::{LazyLock, Mutex, PoisonError},
};
use tracing::{
    Dispatch, Subscriber,
    subscriber::{DefaultGuard, NoSubscriber},
};

/// Variable with the names of the needs whose tests may not be skipped, with commas between them.
const REQUIRED: &str = "AGENTS_REQUIRE";

/// Returns the number of cases of a property test that has `all` in full: a tenth of them, or what the variable
/// `AGENTS_CASES` says, which is a number or `all`.
pub fn cases(all: u32) -> u32 {
    match env::var("AGENTS_CASES").as_deref() {
        Ok("all") => all,
        Ok(number) => number.parse().expect("AGENTS_CASES is a number, or `all`"),
        Err(_) => all.div_ceil(10),
    }
}

/// Sets a subscriber for this thread while the guard lives. A second, unused subscriber keeps `tracing` from caching
/// one thread's interests for all.
pub fn watched_by(subscriber: impl Subscriber + Send + Sync) -> DefaultGuard {
    static ANOTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
    LazyLock::force(&ANOTHER);
    tracing::subscriber::set_default(subscriber)
}

/// Server or program that tests need, and that a machine may lack.
///
/// `all` stands for those that `.ci/run` looks for: what a machine with Debian can have. [`Restate`](Need::Restate),
/// [`Fixtures`](Need::Fixtures) and [`OpenApi`](Need::OpenApi) are not among them. Their tests are for
/// `scripts/test-all`, and are required by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// `postgres`: PostgreSQL, of which a test starts a server of its own. `AGENTS_TEST_POSTGRES` names another server for
    /// most tests.
    Postgres,
    /// `chromium`: Chromium and its driver.
    Chromium,
    /// `axe`: axe-core, the rules that pages are held against.
    Axe,
    /// `chat-clients`: the client packages of chats, Vercel's and AG-UI's.
    ChatClients,
    /// `bwrap`: bubblewrap and Python, on a kernel that lets `nobody` make boxes.
    Bubblewrap,
    /// `mount`: the right to mount a small disk, which is then filled.
    Mount,
    /// `rustfmt`: rustfmt.
    Rustfmt,
    /// `toolchain`: the toolchain whose messages the snapshots of compile errors hold.
    Toolchain,
    /// `restate`: a Restate server, at `AGENTS_RESTATE_SERVER`. `all` does not require it.
    Restate,
    /// `fixtures`: recorded requests and replies of providers, in the folder `AGENTS_FIXTURES`. `all` does not require
    /// them.
    Fixtures,
    /// `openapi`: an OpenAPI document, in the file `AGENTS_OPENAPI`. `all` does not require it.
    OpenApi,
}

/// All needs.
const NEEDS: [Need; 11] = [
    Need::Postgres,
    Need::Chromium,
    Need::Axe,
    Need::ChatClients,
    Need::Bubblewrap,
    Need::Mount,
    Need::Rustfmt,
    Need::Toolchain,
    Need::Restate,
    Need::Fixtures,
    Need::OpenApi,
];

impl Need {
    /// Says that a test is skipped, since this is missing on this machine: `why`. Only the first time, and on standard
    /// error itself: the test's harness does not capture it, so that nobody takes the test for passed.
    ///
    /// # Panics
    /// When `AGENTS_REQUIRE` names it, or names something that is no need.
    #[track_caller]
    pub fn missing(self, why: impl Display) {
        static SAID: Mutex<BTreeSet<Need>> = Mutex::new(BTreeSet::new());
        let required = env::var_os(REQUIRED).unwrap_or_default();
        let line = match self.skipped(&required.to_string_lossy(), &why) {
            Ok(line) => line,
            Err(failure) => panic!("{failure}"),
        };
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.insert(self) {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Returns the line that says that tests are skipped. The error says that they are required.
    fn skipped(self, required: &str, why: &dyn Display) -> Result<String, String> {
        let (name, way) = self.words();
        match needs_in(required)?.contains(&self) {
            true => Err(format!(
                "{REQUIRED} requires {name}, which this test needs: {why}; {way}"
            )),
            false => Ok(format!("tests that need {name} are skipped: {why}; {way}")),
        }
    }

    /// Returns the name, and the way to get it.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Need::Postgres => ("postgres", "apt-get install postgresql"),
            Need::Chromium => ("chromium", "apt-get install chromium chromium-driver"),
            Need::Axe => (
                "axe",
                "npm install --no-save --prefix target/axe axe-core@4",
            ),
            Need::ChatClients => (
                "chat-clients",
                "npm ci --prefix crates/server/browser/vercel",
            ),
            Need::Bubblewrap => (
                "bwrap",
                "apt-get install bubblewrap python3, and let the kernel make user namespaces",
            ),
            Need::Mount => ("mount", "run the tests as root"),
            Need::Rustfmt => ("rustfmt", "rustup component add rustfmt"),
            Need::Toolchain => (
                "toolchain",
                "use the stable toolchain that `rust-version` names",
            ),
            Need::Restate => ("restate", "run scripts/restate-tests, which fetches one"),
            Need::Fixtures => (
                "fixtures",
                "name a folder with rig's `tests/cassettes`, the `__fixtures__` of vercel/ai, and `tests/dataset/usages.json` \
                 of genai-prices as `genai-prices/usages.json`",
            ),
            Need::OpenApi => ("openapi", "name the file of a document, in JSON"),
        }
    }

    /// Returns `true` if `all` stands for it, too.
    const fn is_of_all(self) -> bool {
        !matches!(self, Need::Restate | Need::Fixtures | Need::OpenApi)
    }
}

/// Reads the value of `AGENTS_REQUIRE`. The error lists the names that there are.
fn needs_in(required: &str) -> Result<BTreeSet<Need>, String> {
    let mut needs = BTreeSet::new();
    let names = required.split(',').map(str::trim);
    for name in names.filter(|name| !name.is_empty()) {
        if name == "all" {
            needs.extend(NEEDS.iter().filter(|need| need.is_of_all()));
            continue;
        }
        let known = NEEDS.iter().find(|need| need.words().0 == name);
        needs.insert(*known.ok_or_else(|| {
            let names = NEEDS.map(|need| need.words().0).join(", ");
            format!("{REQUIRED} names `{name}`, which is none of: all, {names}")
        })?);
    }
    Ok(needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_fails_and_the_rest_says_that_it_is_skipped() {
        let why = "there is no server";
        let skipped = |required| Need::Postgres.skipped(required, &why);
        let line =
            "tests that need postgres are skipped: there is no server; apt-get install postgresql";
        for others in ["", "bwrap", " chromium , axe,", "restate,openapi"] {
            assert_eq!(skipped(others).as_deref(), Ok(line), "{others}");
        }
        let failure = "AGENTS_REQUIRE requires postgres, which this test needs: there is no server; apt-get install postgresql";
        for required in ["postgres", "bwrap, postgres", "all", "restate,all"] {
            assert_eq!(skipped(required), Err(failure.to_owned()), "{required}");
        }
    }

    #[test]
    fn all_stands_for_what_a_machine_can_have_and_the_rest_is_named() {
        let all = needs_in("all").unwrap();
        assert_eq!(all.len(), NEEDS.len() - 3);
        assert!(!all.contains(&Need::Restate));
        let with_restate = needs_in("all,restate").unwrap();
        assert_eq!(with_restate.len(), all.len() + 1);
        assert!(with_restate.contains(&Need::Restate));
    }

    #[test]
    fn a_name_that_is_no_need_is_a_failure_with_the_list() {
        let failure = Need::Axe.skipped("postgress", &"").unwrap_err();
        assert!(failure.contains("`postgress`"), "{failure}");
        assert!(failure.contains("all, postgres, chromium"), "{failure}");
    }

    #[test]
    fn every_need_has_one_name() {
        let names: BTreeSet<_> = NEEDS.iter().map(|need| need.words().0).collect();
        assert_eq!(names.len(), NEEDS.len());
        let needs: BTreeSet<_> = NEEDS.into_iter().collect();
        assert_eq!(needs.len(), NEEDS.len());
    }

    #[test]
    fn ci_looks_for_all() {
        let script = include_str!("../../../.ci/run").lines();
        let looked = script.filter_map(|line| line.strip_prefix("need ")?.split(' ').next());
        let all = NEEDS.iter().filter(|need| need.is_of_all());
        let all: Vec<_> = all.map(|need| need.words().0).collect();
        assert_eq!(looked.collect::<Vec<_>>(), all);
    }
}
