//! `test from`, and the files that it writes, as a package of an application has them.

use crate::{
    desk::{Desk, Folder, Ran, binary},
    refunds::Refunds,
};
use agents::testing::{Script, ScriptedModel};
use agents_runtime::{Principal, Progress, Runtime, SqliteStore};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const REFUNDS: &str = include_str!("refunds.rs");

/// Store of a shop with one run that is over.
struct Shop {
    folder: Folder,
    run: String,
}

impl Shop {
    async fn new(name: &str) -> Shop {
        let folder = Folder::new(name);
        let store = SqliteStore::open(folder.0.join("runs.db")).await.unwrap();
        let (model, _) = ScriptedModel::new([
            Script::call("find_order", r#"{"order": "A-17"}"#),
            Script::call("refund", r#"{"order": "A-17"}"#),
            Script::text("Refunded, ada@example.com."),
        ]);
        let runtime = Runtime::open(store).model(model);
        let refunds = runtime.agent(Refunds);
        let run = refunds.run("Refund my order A-17.").scope("acme");
        let run = run
            .by(&Principal::new("ada", "acme"))
            .start()
            .await
            .unwrap();
        let stop = CancellationToken::new();
        let working = tokio::spawn(runtime.clone().work(stop.clone()));
        let Progress::Done(outcome) = run.wait(Duration::from_secs(60)).await.unwrap() else {
            panic!("the run is not over");
        };
        outcome.result.unwrap();
        stop.cancel();
        working.await.unwrap();
        let run = run.id().to_owned();
        Shop { folder, run }
    }

    fn agents(&self, args: &[&str]) -> Ran {
        let store = format!("sqlite:{}", self.folder.0.join("runs.db").display());
        let mut command = binary();
        command.current_dir(&self.folder.0);
        Ran::of(command.args(["--store", &store]).args(args))
    }

    fn test(&self, more: &[&str]) -> Ran {
        self.agents(&[&["test", "from", &self.run], more].concat())
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.0.join(file)).unwrap()
    }
}

/// Package of an application, built beside the other packages of the tests.
struct Package<'a>(&'a Path);

impl Package<'_> {
    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the tests of the package. Returns whether they pass, and what was printed.
    fn tests(&self) -> (bool, String) {
        let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| Path::new(ROOT).join("target"));
        let done = Command::new(env::var_os("CARGO").unwrap())
            .args(["test", "--offline", "--quiet", "--test", "refund"])
            .current_dir(self.0)
            .env("CARGO_TARGET_DIR", target.join("features"))
            .output()
            .unwrap();
        let text = [done.stdout, done.stderr].concat();
        (done.status.success(), String::from_utf8(text).unwrap())
    }
}

#[tokio::test]
async fn a_run_becomes_a_test_that_a_change_of_the_code_fails() {
    let shop = Shop::new("test-from").await;
    let agent = ["--agent", "shop::Refunds", "--name", "refund"];
    let printed = shop.test(&agent).succeeds().out;
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[..2], ["tests/refund.rs", "tests/refund.journal"]);
    assert!(lines[2].contains("no values of secrets"), "{printed}");

    let package = Package(&shop.folder.0);
    package.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"shop\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             typed-agents = {{ path = {:?}, default-features = false, features = [\"macros\", \"recordings\"] }}\n\n\
             [profile.dev]\ndebug = false\n",
            Path::new(ROOT).canonicalize().unwrap()
        ),
    );
    let lock = fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).unwrap();
    package.write("Cargo.lock", &lock);
    // No tool that reads or writes runs in the test.
    let code = REFUNDS
        .replace(
            r#"format!("refund of {order}")"#,
            r#"panic!("refunds {order}")"#,
        )
        .replace(
            r#"format!("{order}: a lamp for ada@example.com")"#,
            r#"panic!("finds {order}")"#,
        );
    assert_ne!(code, REFUNDS);
    package.write("src/lib.rs", &code);
    let (passes, said) = package.tests();
    assert!(passes && said.contains("1 passed"), "{said}");

    let run = &shop.run;
    let otherwise = format!("run {run} of agent `refunds` goes otherwise now: request 1 ");
    for (was, is, what) in [
        (
            "You refund orders.",
            "You refund no orders.",
            "differs from the recording in message 1: recorded `You refund orders.`, now `You refund no orders.` (fact 2)",
        ),
        (
            "/// Number of the order.\n    order: String,\n) -> String {\n    panic!(\"refunds",
            "/// Number of the order.\n    order: u32,\n) -> String {\n    panic!(\"refunds",
            "offers other tools than were recorded: `refund` has another schema (fact 3)",
        ),
        (
            "[FindOrder, Refund]",
            "[FindOrder]",
            "offers other tools than were recorded: `refund` is gone (fact 3)",
        ),
    ] {
        assert!(code.contains(was), "{was}");
        package.write("src/lib.rs", &code.replace(was, is));
        let (passes, said) = package.tests();
        assert!(
            !passes && said.contains(&format!("{otherwise}{what}\n")),
            "{said}"
        );
    }
}

#[tokio::test]
async fn nothing_is_overwritten_and_personal_texts_can_be_replaced() {
    let shop = Shop::new("test-from-again").await;
    let printed = shop.test(&[]).succeeds().out;
    let file = printed.lines().next().unwrap().to_owned();
    assert!(
        file.starts_with("tests/replays_refunds_") && file.ends_with(".rs"),
        "{file}"
    );
    let test = shop.read(&file);
    assert!(
        test.contains("adapt it") && test.contains("use my_crate::Refunds;"),
        "{test}"
    );
    let journal = file.replace(".rs", ".journal");
    let first = shop.read(&journal);
    assert!(first.contains("ada@example.com"));
    // A fact a line, behind the head.
    let facts = first.lines().skip(1);
    assert!(facts.clone().count() > 10);
    assert!(
        facts
            .clone()
            .all(|line| line.matches(",0,0,{\"").count() <= 1)
    );

    shop.test(&[]).fails(1, "is there already");
    fs::write(shop.folder.0.join(&file), "mine").unwrap();
    fs::remove_file(shop.folder.0.join(&journal)).unwrap();
    shop.test(&[]).fails(1, "is there already");
    assert!(!shop.folder.0.join(&journal).exists(), "both or none");
    assert_eq!(shop.read(&file), "mine");
    let replace = [
        "--force",
        "--replace",
        "ada@example.com=someone@example.com",
    ];
    shop.test(&replace).succeeds();
    let second = shop.read(&journal);
    assert!(!second.contains("ada@") && second.contains("Refunded, someone@example.com."));
    let text = agents::journal::recorded(&second, agents::journal::Key::none()).unwrap();
    let replayed = agents::Agent::run(&Refunds, text.input::<String>().unwrap());
    replayed.replay(&text).await.unwrap();

    let before = shop.read(&journal);
    for (wrong, code, why) in [
        (
            ["--replace", "grace@example.com=x"],
            1,
            "is not in the journal",
        ),
        // A part of the form of the journal.
        (["--replace", "started=begun"], 1, "no journal any more"),
        (
            ["--replace", "ada"],
            2,
            "ada@example.com=someone@example.com",
        ),
        (
            ["--replace", "=x"],
            2,
            "ada@example.com=someone@example.com",
        ),
        (["--name", "../refund"], 2, "no name of a Rust function"),
        (
            ["--agent", "shop::Refunds; evil()"],
            2,
            "no path of a Rust type",
        ),
        (["--agent", "Refunds"], 2, "no path of a Rust type"),
        (["--out", "runs.db/x"], 1, "cannot be written"),
    ] {
        shop.test(&[&["--force"], &wrong[..]].concat())
            .fails(code, why);
    }
    assert_eq!(shop.read(&journal), before);
}

#[tokio::test]
async fn only_whoever_may_see_the_contents_gets_a_test() {
    let shop = Shop::new("test-from-whom").await;
    let tries = |args: &[&str]| shop.agents(&[args, &["test", "from", &shop.run]].concat());
    tries(&["--as", "eve", "--tenant", "other"]).fails(1, "there is no run");
    tries(&["--tenant", "other"]).fails(1, "there is no run");
    let rule = [
        "--role-for",
        "read-arguments=auditor",
        "--as",
        "grace",
        "--tenant",
        "acme",
    ];
    tries(&rule).fails(1, "may not see the contents");
    assert!(!shop.folder.0.join("tests").exists());
    tries(&[&rule[..], &["--role", "auditor"]].concat()).succeeds();
    shop.agents(&["test", "from", "never"])
        .fails(1, "there is no run");
    fs::remove_file(shop.folder.0.join("runs.db.keys")).unwrap();
    tries(&[]).fails(1, "--keyring");
}

#[tokio::test]
async fn a_run_that_waits_becomes_a_test_as_far_as_it_has_come() {
    let desk = Desk::new("test-from-waiting").await;
    let (run, _) = desk.waiting("acme", "one").await;
    let out = desk.folder.0.join("tests");
    let out = out.to_str().unwrap();
    let written = desk.printed(&["test", "from", run.id(), "--out", out, "--name", "waits"]);
    assert!(written.contains("waits.rs"), "{written}");
    let text = fs::read_to_string(format!("{out}/waits.journal")).unwrap();
    let recorded = agents::journal::recorded(&text, agents::journal::Key::none()).unwrap();
    let agent = crate::desk::payer(crate::desk::pay(
        &desk.paid,
        "1.0.0",
        agents::tool::Risk::Medium,
    ));
    let replayed = agents::Agent::run(&agent, recorded.input::<String>().unwrap());
    replayed.replay(&recorded).await.unwrap();
    assert!(desk.paid.lock().unwrap().is_empty());
    // A run that nobody has begun has no journal.
    let unbegun = desk.start("acme", "two").await;
    desk.agents(&["test", "from", unbegun.id(), "--out", out])
        .fails(1, "it has not begun");
}
