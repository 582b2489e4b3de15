//! Each control of the inbox: by the pointer, with JavaScript and without on a small screen, and by the keyboard.

use crate::{
    ENTER, approve,
    desk::Desk,
    driver::Browser,
    reads,
    room::{Program, folder, until},
};
use agents_store::ApprovalStatus;
use std::{
    fs,
    time::{Duration, Instant},
};

/// Key, as the protocol names it.
const TAB: &str = "\u{e004}";

/// Returns the arguments of so many payments: of 1 euro, of 2, and so on.
fn payments(count: u32) -> Vec<String> {
    let payment = |amount| format!(r#"{{"amount": "{amount}", "to": "ACME"}}"#);
    (1..=count).map(payment).collect()
}

fn card(id: &str) -> String {
    format!(".card[data-approval-id='{id}']")
}

/// Returns `true` if no part of the page is wider than the screen.
fn fits(browser: &Browser) -> bool {
    browser.run("return document.documentElement.scrollWidth <= innerWidth") == true
}

/// Uses each control of the inbox with the pointer, and looks into the store for what it has done.
fn use_each_control(browser: &Browser, check: impl Fn(&str)) -> Desk {
    let desk = Desk::open(&payments(9));
    let all = desk.pending();
    browser.open(&desk.url);
    check("the inbox");
    let mut requests = all.iter();
    let mut next = || {
        let request = requests.next().unwrap();
        (request, card(&request.id))
    };

    let (approved, own) = next();
    browser.click(&format!("{own} button.approve"));
    reads(browser, "One request was approved.");
    assert_eq!(desk.answer(approved), "paid 1 to ACME");

    let (denied, own) = next();
    browser.fill(&format!("{own} input[name=note]"), "too much");
    browser.click(&format!("{own} button.deny"));
    reads(browser, "One request was denied.");
    let stored = desk.request(&denied.id);
    assert_eq!(stored.status, ApprovalStatus::Denied);
    assert_eq!(stored.note.as_deref(), Some("too much"));

    let (sent_back, own) = next();
    browser.fill(&format!("{own} input[name=note]"), "one euro at most");
    browser.click(&format!("{own} button.revise"));
    reads(browser, "One request was sent back for a revision.");
    let stored = desk.request(&sent_back.id);
    assert_eq!(stored.status, ApprovalStatus::RevisionRequested);
    assert_eq!(stored.note.as_deref(), Some("one euro at most"));
    let revised = desk.revised(sent_back);
    browser.open(&desk.at("/approvals"));
    assert_eq!(browser.count(&card(&revised.id)), 1);

    let (edited, own) = next();
    browser.click(&format!("{own} .editing summary"));
    check("an open form");
    browser.fill(&format!("{own} [name='argument.amount']"), "40");
    browser.click(&format!("{own} button.approve"));
    reads(browser, "One request was approved.");
    assert_eq!(desk.answer(edited), "paid 40 to ACME");

    let (edited, own) = next();
    browser.click(&format!("{own} .editing summary"));
    let whole = r#"{"amount": 50, "to": "Cantor"}"#;
    browser.fill(&format!("{own} [name=arguments]"), whole);
    browser.click(&format!("{own} button.approve"));
    reads(browser, "One request was approved.");
    assert_eq!(desk.answer(edited), "paid 50 to Cantor");

    let ((first, own_first), (second, own_second)) = (next(), next());
    for own in [&own_first, &own_second] {
        browser.click(&format!("{own} input[type=checkbox]"));
    }
    browser.fill("#bulk-note", "not this week");
    browser.click("#bulk button.deny");
    reads(browser, "2 requests were denied.");
    for request in [first, second] {
        let stored = desk.request(&request.id);
        assert_eq!(stored.status, ApprovalStatus::Denied);
        assert_eq!(stored.note.as_deref(), Some("not this week"));
    }

    let (ticked, own) = next();
    browser.click(&format!("{own} input[type=checkbox]"));
    approve(browser, "#bulk");
    reads(browser, "One request was approved.");
    assert_eq!(desk.answer(ticked), "paid 8 to ACME");

    let (last, own) = next();
    browser.click(&format!("{own} .repairs summary"));
    until("the repair", || {
        let shown = browser.text(&format!("{own} .repairs ol"))?;
        shown
            .contains("number taken out of its quotes")
            .then_some(())
    });
    browser.click(&format!("{own} h3 a"));
    until("the page of the request", || {
        (browser.text("h1").as_deref() == Some("Request")).then_some(())
    });
    check("the page of a request");
    browser.click(&format!("{own} button.approve"));
    reads(browser, "One request was approved.");
    assert_eq!(desk.answer(last), "paid 9 to ACME");

    for (name, status) in [
        ("Approved", "approved"),
        ("Run", "consumed"),
        ("Denied", "denied"),
        ("Sent back", "revision_requested"),
        ("Expired", "expired"),
        ("Withdrawn", "cancelled"),
        ("Pending", "pending"),
    ] {
        browser.click(&format!(".states a[href$='status={status}']"));
        until(name, || {
            (browser.text(".states [aria-current]").as_deref() == Some(name)).then_some(())
        });
        check(name);
        let wrong = format!(".card:not([data-status='{status}'])");
        assert_eq!(browser.count(&wrong), 0, "{name}");
    }
    assert_eq!(desk.ids().into_iter().collect::<Vec<_>>(), [revised.id]);
    browser.click(".card .facts a[href^='/runs/']");
    reads(browser, "It waits for a decision");
    desk
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn a9_each_control_of_the_inbox_works_by_the_pointer() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let _desk = use_each_control(&browser, |_| {});
    assert_eq!(browser.complaints(), "[]");
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn each_control_of_the_inbox_works_without_javascript_on_a_small_screen() {
    let Some(browser) = Browser::start(380, 800, false) else {
        return;
    };
    browser.show(380, false);
    use_each_control(&browser, |what| {
        assert!(browser.width("html") <= 380.0 && fits(&browser), "{what}");
    });
}

/// Goes on with the key `Tab` to the element that a selector finds.
fn tab_to(browser: &Browser, selector: &str) {
    let is_there = format!("return document.activeElement.matches(\"{selector}\")");
    for _ in 0..200 {
        browser.press(TAB);
        if browser.run(&is_there) == true {
            return;
        }
    }
    panic!("{selector} cannot be reached by the keyboard");
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn each_control_of_the_inbox_works_by_the_keyboard_alone() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let desk = Desk::open(&payments(7));
    let all = desk.pending();
    let focused = "return document.activeElement.dataset.approvalId";
    browser.open(&desk.url);
    // The letters: next, previous, note, arguments, approve, deny. A page that has just been loaded may not hear the first key.
    until("the first card", || {
        browser.open(&desk.at("/approvals"));
        browser.press("jjk");
        (browser.run(focused) == *all[0].id).then_some(())
    });
    browser.press("r");
    assert_eq!(browser.run("return document.activeElement.name"), "note");
    // In a field, letters are letters.
    browser.press("ajd");
    assert_eq!(browser.run("return document.activeElement.value"), "ajd");
    // Enter in the note of a card decides nothing: a button does.
    browser.press(ENTER);
    tab_to(&browser, "button.deny");
    browser.press(ENTER);
    reads(&browser, "One request was denied.");
    assert_eq!(desk.request(&all[0].id).note.as_deref(), Some("ajd"));
    browser.press("ja");
    reads(&browser, "One request was approved.");
    assert_eq!(desk.answer(&all[1]), "paid 2 to ACME");
    browser.press("jd");
    reads(&browser, "One request was denied.");
    let denied = desk.request(&all[2].id);
    assert_eq!(denied.status, ApprovalStatus::Denied);
    browser.press("je");
    assert_eq!(
        browser.run("return document.activeElement.name"),
        "argument.amount"
    );
    browser.run("document.activeElement.select(); return 0");
    browser.press("41");
    tab_to(&browser, "button.approve");
    browser.press(" ");
    reads(&browser, "One request was approved.");
    assert_eq!(desk.answer(&all[3]), "paid 41 to ACME");

    // What has no letter is reached by Tab: a box, the form for those that are ticked, a revision, the states, the content.
    tab_to(
        &browser,
        &format!("{} input[type=checkbox]", card(&all[4].id)),
    );
    browser.press(" ");
    browser.run("document.activeElement.blur(); window.focus(); return 0");
    tab_to(&browser, "#bulk button.deny");
    browser.press(ENTER);
    reads(&browser, "One request was denied.");
    let denied = desk.request(&all[4].id);
    assert_eq!(denied.status, ApprovalStatus::Denied);
    browser.press("j");
    tab_to(&browser, &format!("{} button.revise", card(&all[5].id)));
    browser.press(ENTER);
    reads(&browser, "One request was sent back for a revision.");
    desk.revised(&all[5]);
    // A page that has just been loaded may not hear the first key.
    until("the way to the content", || {
        browser.open(&desk.at("/approvals"));
        browser.press(TAB);
        (browser.run("return document.activeElement.className") == "skip").then_some(())
    });
    browser.press(ENTER);
    until("the content", || {
        (browser.run("return document.activeElement.id") == "main").then_some(())
    });
    tab_to(&browser, ".states a[href$='status=denied']");
    browser.press(ENTER);
    until("those that were denied", || {
        (browser.count(".card[data-status='denied']") == 3).then_some(())
    });
    assert_eq!(browser.complaints(), "[]");
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn a_decision_on_the_page_of_one_server_shows_on_that_of_another_within_a_second() {
    let (Some(one), Some(two)) = (
        Browser::start(1200, 900, true),
        Browser::start(1200, 900, true),
    ) else {
        return;
    };
    let folder = folder("second");
    let first = Program::start(&folder);
    until("the requests", || {
        one.open(&first.url);
        (one.count(".card") == 3).then_some(())
    });
    let second = Program::start(&folder);
    two.open(&second.url);
    until("the requests", || (two.count(".card") == 3).then_some(()));
    let mut delays = Vec::new();
    for (left, (here, there)) in [(2, (&one, &two)), (1, (&two, &one)), (0, (&one, &two))] {
        // A page listens once its connection is open.
        until("the connection", || {
            let open = "return performance.getEntriesByType('resource').length > 0 && document.readyState === 'complete'";
            (there.run(open) == true).then_some(())
        });
        here.click(".card button.deny");
        let began = Instant::now();
        until("the decision", || {
            (there.count(".card") == left).then_some(())
        });
        delays.push(began.elapsed());
        until("what was done", || here.text(".done").map(|_| ()));
    }
    // The machine may have other things to do: what is late for that reason is not late three times.
    let fastest = delays.iter().min().unwrap();
    assert!(*fastest < Duration::from_secs(1), "{delays:?}");
    assert_eq!(one.complaints(), "[]");
    assert_eq!(two.complaints(), "[]");
    let _ = fs::remove_dir_all(&folder);
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn pages_that_were_left_hold_no_connections() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let desk = Desk::open(&payments(2));
    browser.open(&desk.url);
    // A browser has six connections to a server. Each of these pages is live.
    for _ in 0..6 {
        for request in desk.pending() {
            browser.open(&desk.at(&format!("/runs/{}", request.run_id)));
            reads(&browser, "It waits for a decision");
        }
    }
    let first = &desk.pending()[0];
    browser.open(&desk.at("/approvals"));
    browser.click(".card button.approve");
    reads(&browser, "One request was approved.");
    assert_eq!(desk.answer(first), "paid 1 to ACME");
}
