//! The control room in Chromium: with JavaScript and without, live, by the keyboard, and on a small screen.
//!
//! Debian's `chromium` and `chromium-driver` are needed. Where they are missing, the tests say so in one line.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

#[path = "../../../tests/examples/built.rs"]
mod built;
mod driver;

use driver::Browser;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The example `control_room`, whose store and ledger are in a folder of their own.
struct Room {
    child: Child,
    folder: PathBuf,
    url: String,
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Room {
    fn open(name: &str) -> Room {
        let folder =
            std::env::temp_dir().join(format!("agents-browser-{name}-{}", std::process::id()));
        let _ = fs::create_dir(&folder);
        let mut child = Command::new(built::EXAMPLES.join("control_room"))
            .args(["--listen", "127.0.0.1:0", "--store"])
            .arg(format!("sqlite:{}", folder.join("room.db").display()))
            .arg("--ledger")
            .arg(folder.join("ledger"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .strip_prefix("listening on ")
            .unwrap()
            .trim()
            .to_owned();
        Room { child, folder, url }
    }

    fn ledger(&self, lines: usize) -> String {
        until("the ledger", || {
            let text = fs::read_to_string(self.folder.join("ledger")).unwrap_or_default();
            (text.lines().count() == lines).then_some(text)
        })
    }
}

/// Waits until there is a value.
fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

const CARDS: &str = "return document.querySelectorAll('.card:not([data-gone])').length";

fn has_cards(browser: &Browser, count: u64) {
    until("the cards", || (browser.run(CARDS) == count).then_some(()));
}

#[test]
fn both_pages_of_two_servers_show_a_decision_and_what_is_typed_stays() {
    let (Some(one), Some(two)) = (
        Browser::start(1200, 900, true),
        Browser::start(380, 800, true),
    ) else {
        return;
    };
    let first = Room::open("live");
    one.open(&first.url);
    until("the requests", || {
        one.open(&first.url);
        (one.run(CARDS) == 3).then_some(())
    });
    let second = Room::open("live");
    two.open(&second.url);
    has_cards(&two, 3);
    two.run("document.querySelectorAll('.card input[name=note]')[1].value = 'typed'; return 0");
    one.run("document.querySelector('.card button.approve').click(); return 0");
    until("what was done", || {
        (one.run("return document.querySelector('.done')?.textContent")
            == "One request was approved.")
            .then_some(())
    });
    has_cards(&one, 2);
    has_cards(&two, 2);
    let typed = two.run("return [...document.querySelectorAll('.card input[name=note]')].map((note) => note.value).join('|')");
    assert_eq!(typed, "typed|");
    first.ledger(1);
    // Nothing of the page is wider than the screen.
    assert_eq!(
        two.run("return document.documentElement.scrollWidth <= window.innerWidth"),
        true
    );
    assert_eq!(one.complaints(), "[]");
    assert_eq!(two.complaints(), "[]");
    let _ = fs::remove_dir_all(&first.folder);
}

#[test]
fn requests_are_decided_by_the_keyboard_and_edited_in_fields() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let room = Room::open("keys");
    until("the requests", || {
        browser.open(&room.url);
        (browser.run(CARDS) == 3).then_some(())
    });
    browser.press("je");
    assert_eq!(
        browser.run("return document.activeElement.name"),
        "argument.amount"
    );
    browser.run("document.activeElement.value = '1'; document.activeElement.blur(); return 0");
    browser.press("ja");
    assert!(room.ledger(1).ends_with(" 1\n"));
    has_cards(&browser, 2);
    browser.press("jd");
    has_cards(&browser, 1);
    room.ledger(1);
    let _ = fs::remove_dir_all(&room.folder);
}

#[test]
fn everything_works_without_javascript() {
    let Some(browser) = Browser::start(380, 800, false) else {
        return;
    };
    let room = Room::open("plain");
    until("the requests", || {
        browser.open(&room.url);
        (browser.source().matches("data-approval-id").count() == 3).then_some(())
    });
    browser.click(".card button.approve");
    until("what was done", || {
        browser
            .source()
            .contains("One request was approved.")
            .then_some(())
    });
    room.ledger(1);
    browser.click(".card input[type=checkbox]");
    browser.click("#bulk button.deny");
    until("what was done", || {
        browser
            .source()
            .contains("One request was denied.")
            .then_some(())
    });
    browser.click("nav a[href='/runs']");
    until("the runs", || {
        browser.source().contains("answered").then_some(())
    });
    browser.click("table.runs a");
    until("the steps", || {
        browser.source().contains("the run begins").then_some(())
    });
    browser.click("nav a[href='/audit']");
    browser.click("button[name=verify]");
    until("the verdict", || {
        browser.source().contains("intact").then_some(())
    });
    room.ledger(1);
    let _ = fs::remove_dir_all(&room.folder);
}
