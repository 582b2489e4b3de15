//! Each control of the selector of tools, and the pages that it leads to: with JavaScript and without.

use crate::{
    driver::Browser,
    reads,
    room::{Program, folder, until},
};
use std::fs;

/// Returns the names of the tools that are shown.
fn tools(browser: &Browser) -> Vec<String> {
    let source = browser.source();
    let names = source.split("data-tool=\"").skip(1);
    let names = names.map(|rest| rest.split('"').next().unwrap().to_owned());
    names.collect()
}

fn shows(browser: &Browser, wanted: &[&str]) {
    until("the tools", || (tools(browser) == wanted).then_some(()));
}

/// Chooses a word in a field.
fn choose(browser: &Browser, field: &str, word: &str) {
    browser.click(&format!("select[name={field}] option[value='{word}']"));
}

fn use_each_control(browser: &Browser, name: &str) {
    let folder = folder(name);
    let room = Program::start(&folder);
    until("the tools", || {
        browser.open(&room.url);
        browser.click("nav a[href='/tools']");
        (tools(browser) == ["find_invoice", "pay"]).then_some(())
    });
    let show = "form[role=search] button";
    browser.fill("input[name=q]", "PAYS");
    browser.click(show);
    shows(browser, &["pay"]);
    browser.fill("input[name=q]", "");
    choose(browser, "category", "search");
    browser.click(show);
    shows(browser, &["find_invoice"]);
    choose(browser, "category", "");
    choose(browser, "effects", "writes");
    browser.click(show);
    shows(browser, &["pay"]);
    choose(browser, "effects", "");
    choose(browser, "status", "gone");
    browser.click(show);
    reads(browser, "There is no such tool.");
    choose(browser, "status", "active");
    browser.fill("input[name=agent]", "office");
    browser.click(show);
    shows(browser, &["find_invoice", "pay"]);

    browser.click(".card[data-tool=find_invoice] h2 a");
    reads(browser, "Arguments, as JSON Schema");
    browser.fill("[name='argument.number']", "A-17");
    browser.click("form.try button");
    let run = until("the run", || {
        let source = browser.source();
        let (_, id) = source.split_once("<dt>Id</dt><dd><code>")?;
        Some(id.split('<').next()?.to_owned())
    });
    let (origin, _) = room.url.split_once("/?").unwrap();
    until("the answer", || {
        browser.open(&format!("{origin}/runs/{run}"));
        browser
            .source()
            .contains("A-17: 12.00 to ACME")
            .then_some(())
    });

    browser.click("a.call");
    reads(browser, "As a program");
    reads(browser, r#""find_invoice", "1.0.0", args"#);

    browser.click("nav a[href='/tools']");
    browser.click(".card[data-tool=find_invoice] a.pin");
    browser.fill("#pin input[name=name]", "invoice");
    browser.fill("#pin input[name=run]", &run);
    choose(browser, "strategy", "first_success");
    choose(browser, "on_missing", "error");
    browser.click("#pin button");
    reads(browser, r#""strategy": "first_success""#);
    reads(browser, "A-17: 12.00 to ACME");

    browser.click("nav a[href='/teams']");
    reads(browser, "data-place=\"bookkeeper\"");
    browser.click(".team h2 a");
    reads(browser, "Where escalations went");
    browser.click(".chart a[href*='q=pay']");
    shows(browser, &["pay"]);
    let _ = fs::remove_dir_all(&folder);
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn t10_each_control_of_the_selector_works() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    use_each_control(&browser, "selector");
    assert_eq!(browser.complaints(), "[]");
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn t10_each_control_of_the_selector_works_without_javascript_on_a_small_screen() {
    let Some(browser) = Browser::start(380, 800, false) else {
        return;
    };
    use_each_control(&browser, "selector-small");
}
