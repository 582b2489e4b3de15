//! The control room in Chromium: with JavaScript and without, live, by the keyboard, and on a small screen.
//!
//! Debian's `chromium` and `chromium-driver` are needed. Where they are missing, the tests say so in one line.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

#[path = "../../../tests/examples/built.rs"]
mod built;
mod driver;
#[path = "../room/mod.rs"]
mod room;

use driver::Browser;
use room::{Program, folder, ledger, until};
use std::fs;

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
    browser.press("ja");
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
    browser.click(".card button.approve");
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
