//! The control room in Chromium: with JavaScript and without, live, by the keyboard, on a small screen, and for everybody.
//!
//! Debian's `chromium` and `chromium-driver` are needed. Where they are missing, one line says so.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

mod axe;
#[path = "../../../../../tests/examples/built.rs"]
mod built;
mod chats;
mod controls;
mod desk;
mod driver;
mod every_control;
mod hostile;
mod letters;
mod lost;
mod once_more;
#[path = "../../../tests/room/mod.rs"]
mod room;
mod selector;

use driver::Browser;
use room::{Program, folder, ledger, until};
use std::fs;

const CARDS: &str = "return document.querySelectorAll('.card:not([data-gone])').length";

/// Key, as the protocol names it.
const ENTER: &str = "\u{e007}";

/// Approves a request whose card asks once more.
fn approve(browser: &Browser, card: &str) {
    browser.click(&format!("{card} summary.approve"));
    browser.click(&format!("{card} button.approve"));
}

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
    let folder = folder("live");
    let first = Program::start(&folder);
    one.open(&first.url);
    until("the requests", || {
        one.open(&first.url);
        (one.run(CARDS) == 3).then_some(())
    });
    let second = Program::start(&folder);
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
    ledger(&folder, 1);
    // Nothing of the page is wider than the screen.
    assert_eq!(
        two.run("return document.documentElement.scrollWidth <= window.innerWidth"),
        true
    );
    assert_eq!(one.complaints(), "[]");
    assert_eq!(two.complaints(), "[]");
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn requests_are_decided_by_the_keyboard_and_edited_in_fields() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let folder = folder("keys");
    let room = Program::start(&folder);
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
    // A payment is asked about once more.
    browser.press("ja");
    browser.press(ENTER);
    assert!(ledger(&folder, 1)[0].ends_with(" 1"));
    has_cards(&browser, 2);
    browser.press("jd");
    has_cards(&browser, 1);
    ledger(&folder, 1);
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn everything_works_without_javascript() {
    let Some(browser) = Browser::start(380, 800, false) else {
        return;
    };
    let folder = folder("plain");
    let room = Program::start(&folder);
    until("the requests", || {
        browser.open(&room.url);
        (browser.source().matches("data-approval-id").count() == 3).then_some(())
    });
    approve(&browser, ".card");
    until("what was done", || {
        browser
            .source()
            .contains("One request was approved.")
            .then_some(())
    });
    ledger(&folder, 1);
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
    ledger(&folder, 1);
    let _ = fs::remove_dir_all(&folder);
}

/// Waits until the page has this text.
fn reads(browser: &Browser, text: &str) {
    until(text, || browser.source().contains(text).then_some(()));
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn a_payment_is_undone_and_a_version_rolled_back_without_javascript() {
    let Some(browser) = Browser::start(1200, 900, false) else {
        return;
    };
    let folder = folder("undo");
    let room = Program::start(&folder);
    until("the requests", || {
        browser.open(&room.url);
        (browser.source().matches("data-approval-id").count() == 3).then_some(())
    });
    approve(&browser, ".card");
    reads(&browser, "One request was approved.");
    ledger(&folder, 1);
    let (origin, _) = room.url.split_once("/?").unwrap();
    until("a run that is over", || {
        browser.open(&format!("{origin}/runs"));
        browser.source().contains("state-answered").then_some(())
    });
    let run = "tr:has(.state-answered) a";
    browser.click(run);
    reads(&browser, "What it has done");
    browser.click("table.executions a");
    reads(&browser, "The tool says how its calls are undone.");
    browser.click("button[value=undo]");
    // The page of the run that undoes it.
    reads(&browser, "<dt>Key</dt>");
    // The undo asks, since the calls of the tool do.
    until("the request of the undo", || {
        browser.open(&format!("{origin}/approvals"));
        (browser.source().matches("data-approval-id").count() == 3).then_some(())
    });
    assert_eq!(ledger(&folder, 1).len(), 1);
    approve(&browser, ".run:last-of-type .card");
    reads(&browser, "One request was approved.");
    ledger(&folder, 0);
    browser.click("nav a[href='/models']");
    reads(&browser, "circuit-closed");
    browser.click("a[href='/models/agent_tool']");
    reads(&browser, "Activate version");
    browser.click("table.versions form button");
    reads(&browser, "data-change=\"rolled_back\"");
    browser.click("nav a[href='/costs']");
    reads(&browser, "All rows as CSV");
    assert!(!browser.source().contains("data-total=\"0\""));
    let _ = fs::remove_dir_all(&folder);
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn o10_the_page_of_a_run_is_live_and_every_page_fits_a_small_screen() {
    let (Some(one), Some(two)) = (
        Browser::start(380, 800, true),
        Browser::start(380, 800, true),
    ) else {
        return;
    };
    let folder = folder("run");
    let room = Program::start(&folder);
    until("the requests", || {
        two.open(&room.url);
        (two.run(CARDS) == 3).then_some(())
    });
    one.open(&room.url);
    has_cards(&one, 3);
    one.click(".card .facts a[href^='/runs/']");
    reads(&one, "It waits for a decision");
    two.run("document.querySelector('.card button.approve').click(); return 0");
    until("the answer", || {
        let headings =
            "return [...document.querySelectorAll('h2')].map((one) => one.textContent).join()";
        let found = one.run(headings);
        found.as_str()?.contains("Answer").then_some(())
    });
    assert_eq!(
        one.run("return document.querySelector('.standstill')"),
        serde_json::Value::Null
    );
    let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
    assert_eq!(one.run(fits), true, "the run");
    for page in ["/models", "/models/agent_tool", "/costs", "/audit", "/runs"] {
        one.click(&format!(
            "nav a[href='{}']",
            page.replace("/agent_tool", "")
        ));
        if page.ends_with("agent_tool") {
            one.click("a[href='/models/agent_tool']");
        }
        until(page, || {
            (one.run("return location.pathname") == page).then_some(())
        });
        assert_eq!(one.run(fits), true, "{page}");
    }
    assert_eq!(one.complaints(), "[]");
    assert_eq!(two.complaints(), "[]");
    let _ = fs::remove_dir_all(&folder);
}
