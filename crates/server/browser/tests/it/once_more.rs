//! Keys that decide and keys that do not, and the question before a grave decision.

use crate::{
    ENTER, approve,
    driver::Browser,
    has_cards, reads,
    room::{Program, folder, ledger, until},
};
use std::{fs, path::Path, thread, time::Duration};

/// Keys, as the protocol names them.
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";

const OPEN: &str = "details.confirm[open]";

/// Opens the inbox of the example, with its three payments.
fn open(browser: &Browser, folder: &Path) -> Program {
    let room = Program::start(folder);
    until("the requests", || {
        browser.open(&room.url);
        (browser.count(".card") == 3).then_some(())
    });
    room
}

/// Checks that nothing was paid and that all requests are still there.
fn nothing_happens(browser: &Browser, folder: &Path, what: &str) {
    // Long enough for a form that was sent to show.
    thread::sleep(Duration::from_millis(500));
    assert_eq!(browser.path(), "/approvals", "{what}");
    assert_eq!(browser.count(".card"), 3, "{what}");
    assert!(ledger(folder, 0).is_empty(), "{what}");
}

#[test]
fn enter_in_a_field_decides_nothing_with_javascript_and_without() {
    for with_scripts in [true, false] {
        let Some(browser) = Browser::start(1200, 900, with_scripts) else {
            return;
        };
        let folder = folder(&format!("enter-{with_scripts}"));
        let _room = open(&browser, &folder);
        browser.click(".card input[type=checkbox]");
        browser.press(ENTER);
        nothing_happens(&browser, &folder, "a box");
        browser.click(".card .editing summary");
        for field in [
            ".card input[name=note]",
            "#bulk-note",
            ".card [name='argument.to']",
            ".card [name='argument.amount']",
        ] {
            browser.fill(field, "1");
            browser.press(ENTER);
            browser.press(ESCAPE);
            nothing_happens(&browser, &folder, field);
        }
        // What was typed is there, and a button decides.
        browser.click(".card button.deny");
        reads(&browser, "edited arguments are for an approval");
        approve(&browser, ".card");
        reads(&browser, "One request was approved.");
        assert!(ledger(&folder, 1)[0].ends_with(" 1"));
        let _ = fs::remove_dir_all(&folder);
    }
}

#[test]
fn a_payment_is_asked_about_once_more_and_can_be_left_with_javascript_and_without() {
    for with_scripts in [true, false] {
        let Some(browser) = Browser::start(380, 800, with_scripts) else {
            return;
        };
        let folder = folder(&format!("once-more-{with_scripts}"));
        let room = open(&browser, &folder);
        browser.click(".card summary.approve");
        nothing_happens(&browser, &folder, "Approve");
        let effect = browser.text(".card .effect").unwrap();
        let asked = browser.text(&format!(".card {OPEN} .what")).unwrap();
        assert_eq!(asked[..8].to_lowercase(), effect[..8], "{asked}");
        assert!(asked.contains("Approve pay"), "{asked}");
        // The same place again goes back: whoever presses twice has not approved.
        assert_eq!(
            browser.text(".card .confirm summary").as_deref(),
            Some("Back")
        );
        browser.click(".card summary.approve");
        nothing_happens(&browser, &folder, "Back");
        assert_eq!(browser.count(OPEN), 0);
        // All that are ticked are asked about as well.
        browser.click(".card input[type=checkbox]");
        browser.click("#bulk summary.approve");
        nothing_happens(&browser, &folder, "Approve for those that are ticked");
        if with_scripts {
            let ticked = browser.text("#ticked").unwrap();
            assert!(ticked.starts_with("1: pay "), "{ticked}");
        }
        browser.click("#bulk button.approve");
        reads(&browser, "One request was approved.");
        assert_eq!(ledger(&folder, 1).len(), 1);

        // So is the end of a run.
        browser.click(".card .facts a[href^='/runs/']");
        reads(&browser, "It waits for a decision");
        browser.click(".steer .confirm summary");
        reads(&browser, "The run ends for good.");
        thread::sleep(Duration::from_millis(300));
        assert_eq!(browser.count("[data-run-status=waiting]"), 1);
        browser.click(".steer .confirm button");
        until("the end", || {
            if !with_scripts {
                browser.open(&room.url);
            }
            let path = browser.path();
            (path == "/approvals" && browser.count(".card") == 1
                || browser.count(".state-cancelled") == 1)
                .then_some(())
        });
        let _ = fs::remove_dir_all(&folder);
    }
}

#[test]
fn letters_and_control_enter_ask_once_more_before_a_payment() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let folder = folder("letters-ask");
    let _room = open(&browser, &folder);
    // On a link or a button of a card, letters decide nothing.
    for focus in [
        "h3 a",
        ".editing summary",
        "summary.approve",
        "input[name=id]",
    ] {
        let script = format!("document.querySelector(\".card {focus}\").focus(); return 0");
        browser.run(&script);
        browser.press("ad");
        nothing_happens(&browser, &folder, focus);
        assert_eq!(browser.count(OPEN), 0, "{focus}");
    }
    browser.run("document.activeElement.blur(); return 0");
    browser.press("ja");
    assert_eq!(
        browser.run("return document.activeElement.value"),
        "approve"
    );
    browser.press("a");
    nothing_happens(&browser, &folder, "a letter on the button");
    browser.press(ESCAPE);
    assert_eq!(browser.count(OPEN), 0);
    browser.fill(".card input[name=note]", "as agreed");
    browser.press_with_control(ENTER);
    nothing_happens(&browser, &folder, "the first Ctrl and Enter");
    assert_eq!(
        browser.run("return document.activeElement.value"),
        "approve"
    );
    // What will run is told, also after an edit.
    browser.press(ESCAPE);
    browser.click(".card .editing summary");
    browser.fill(".card [name='argument.amount']", "7");
    browser.press_with_control(ENTER);
    let told = browser.text(&format!(".card {OPEN} .what")).unwrap();
    assert!(told.contains("With your arguments: amount: 7."), "{told}");
    browser.press_with_control(ENTER);
    reads(&browser, "One request was approved.");
    assert!(ledger(&folder, 1)[0].ends_with(" 7"));
    has_cards(&browser, 2);
    // Nobody has to go on by Tab through what is hidden.
    browser.press("j");
    for _ in 0..30 {
        browser.press(TAB);
        assert_ne!(
            browser.run("return document.activeElement.value"),
            "approve"
        );
    }
    assert_eq!(browser.complaints(), "[]");
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn a_slip_is_mended_where_it_was_made_with_javascript_and_without() {
    for with_scripts in [true, false] {
        let Some(browser) = Browser::start(1200, 900, with_scripts) else {
            return;
        };
        let folder = folder(&format!("slip-{with_scripts}"));
        let _room = open(&browser, &folder);
        browser.fill("#bulk-note", "not today");
        browser.click("#bulk button.deny");
        reads(&browser, "no request is chosen");
        assert_eq!(
            browser.run("return document.querySelector('#bulk-note').value"),
            "not today"
        );
        browser.fill(".card input[name=note]", "half");
        browser.click(".card .editing summary");
        browser.fill(".card [name='argument.amount']", "ten");
        approve(&browser, ".card");
        reads(&browser, "is not of the type");
        let at = "return document.activeElement.name + ' ' + document.activeElement.value";
        assert_eq!(browser.run(at), "argument.amount ten");
        assert_eq!(
            browser.run("return document.querySelector('.card input[name=note]').value"),
            "half"
        );
        browser.fill(".card [name='argument.amount']", "10");
        approve(&browser, ".card");
        reads(&browser, "One request was approved.");
        assert!(ledger(&folder, 1)[0].ends_with(" 10"));
        browser.click("nav a[href='/tools']");
        browser.click(".card[data-tool=pay] h2 a");
        reads(&browser, "Try it");
        browser.fill("[name='argument.to']", "Cantor");
        browser.fill("[name='argument.amount']", "much");
        browser.click("form.try button.approve");
        reads(&browser, "is not of the type");
        assert_eq!(browser.run(at), "argument.amount much");
        assert_eq!(
            browser.run("return document.querySelector(\"[name='argument.to']\").value"),
            "Cantor"
        );
        browser.fill("[name='argument.amount']", "3");
        browser.click("form.try button.approve");
        reads(&browser, "<dt>Id</dt>");
        let _ = fs::remove_dir_all(&folder);
    }
}
