//! A browser, driven through Debian's `chromedriver` by the W3C's WebDriver protocol.

use agents_needs::Need;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Condvar, Mutex},
    thread,
    time::Duration,
};

const DRIVER: &str = "/usr/bin/chromedriver";
const CHROMIUM: &str = "/usr/bin/chromium";

/// Name by which the protocol refers to elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Key, as the protocol names it.
const CONTROL: &str = "\u{e009}";

/// Number of tests that have browsers at a time: with more, pages time out on two cores.
const TESTS: usize = 2;

/// Number of browsers of each test that has some.
static BUSY: Mutex<BTreeMap<Option<String>, usize>> = Mutex::new(BTreeMap::new());
static FREE: Condvar = Condvar::new();

/// Place of a browser among those that are open. A test waits for its first one while enough other tests have some.
struct Turn(Option<String>);

impl Turn {
    fn wait() -> Turn {
        let test = thread::current().name().map(str::to_owned);
        let must_wait =
            |busy: &mut BTreeMap<_, _>| busy.len() >= TESTS && !busy.contains_key(&test);
        let busy = BUSY.lock().unwrap();
        let mut busy = FREE.wait_while(busy, must_wait).unwrap();
        *busy.entry(test.clone()).or_default() += 1;
        Turn(test)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut busy = BUSY.lock().unwrap();
        if let Some(count) = busy.get_mut(&self.0) {
            *count -= 1;
        }
        busy.retain(|_, count| *count > 0);
        FREE.notify_all();
    }
}

pub(crate) struct Browser {
    driver: Child,
    /// Output of the driver, which ends if nobody reads on.
    _output: BufReader<ChildStdout>,
    port: u16,
    session: String,
    _turn: Turn,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.try_ask("DELETE", "", &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Starts a browser with a window of this size; `None` if there is none on this machine, which is said.
    pub(crate) fn start(width: u32, height: u32, with_scripts: bool) -> Option<Browser> {
        if let Some(missing) = [DRIVER, CHROMIUM]
            .into_iter()
            .find(|path| !Path::new(path).exists())
        {
            Need::Chromium.missing(format!("there is no {missing}"));
            return None;
        }
        let turn = Turn::wait();
        let mut driver = Command::new(DRIVER)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(driver.stdout.take().unwrap());
        let port = loop {
            let mut line = String::new();
            assert_ne!(
                output.read_line(&mut line).unwrap(),
                0,
                "the driver has ended"
            );
            if let Some((_, port)) = line.split_once("successfully on port ") {
                break port.trim().trim_end_matches('.').parse().unwrap();
            }
        };
        let mut browser = Browser {
            driver,
            _output: output,
            port,
            session: String::new(),
            _turn: turn,
        };
        let size = format!("--window-size={width},{height}");
        let preferences = match with_scripts {
            true => json!({}),
            false => json!({"profile.managed_default_content_settings.javascript": 2}),
        };
        let options = json!({
            "binary": CHROMIUM,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", size],
            "prefs": preferences,
        });
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "timeouts": {"pageLoad": 30_000, "script": 60_000},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.try_ask("POST", "", &capabilities).unwrap();
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        Some(browser)
    }

    /// Sends a command, and returns the value of its answer.
    fn try_ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let Browser { port, session, .. } = self;
        let own = match session.is_empty() {
            true => "/session".to_owned(),
            false => format!("/session/{session}"),
        };
        let body = match method {
            "POST" => body.to_string(),
            _ => String::new(),
        };
        let length = body.len();
        let head = format!(
            "{method} {own}{path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n"
        );
        let head =
            format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        let mut stream =
            TcpStream::connect(("127.0.0.1", *port)).map_err(|error| error.to_string())?;
        stream
            .set_read_timeout(Some(Duration::from_secs(90)))
            .unwrap();
        stream
            .write_all((head + &body).as_bytes())
            .map_err(|error| error.to_string())?;
        // The driver may leave the connection open: the length says where the answer ends.
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader
                .read_line(&mut line)
                .map_err(|error| error.to_string())?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader
            .read_exact(&mut answer)
            .map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", answer["value"]["message"])),
            None => Ok(answer["value"].clone()),
        }
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        self.try_ask("POST", path, body).unwrap()
    }

    /// Loads a page.
    pub(crate) fn open(&self, url: &str) {
        self.ask("/url", &json!({"url": url}));
    }

    /// Returns the path and the query of the page.
    pub(crate) fn path(&self) -> String {
        let url = self.try_ask("GET", "/url", &json!({})).unwrap();
        let (_, rest) = url.as_str().unwrap().split_once("://").unwrap();
        rest[rest.find('/').unwrap_or(rest.len())..].to_owned()
    }

    /// Runs a script in the page, and returns its value.
    pub(crate) fn run(&self, script: &str) -> Value {
        // A page that is left meanwhile has no value.
        let result = self.try_ask(
            "POST",
            "/execute/sync",
            &json!({"script": script, "args": []}),
        );
        result.unwrap_or_default()
    }

    /// Presses these keys, one after the other.
    pub(crate) fn press(&self, keys: &str) {
        let key = |key: char| {
            let key = key.to_string();
            [
                json!({"type": "keyDown", "value": key}),
                json!({"type": "keyUp", "value": key}),
            ]
        };
        let actions: Vec<_> = keys.chars().flat_map(key).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.ask("/actions", &json!({"actions": [keyboard]}));
    }

    /// Returns the path of the first element that a selector finds.
    fn element(&self, selector: &str) -> String {
        let found = self.ask(
            "/element",
            &json!({"using": "css selector", "value": selector}),
        );
        format!("/element/{}", found[ELEMENT].as_str().unwrap())
    }

    /// Does something with the first element that a selector finds. A live page may replace the element in between: then
    /// its successor is taken.
    fn with_element(&self, selector: &str, act: impl Fn(&str) -> Result<Value, String>) {
        for _ in 0..20 {
            match act(&self.element(selector)) {
                Err(error) if error.starts_with("stale element") => {}
                done => {
                    done.unwrap();
                    return;
                }
            }
        }
        panic!("{selector} is replaced again and again");
    }

    /// Clicks the first element that a selector finds.
    pub(crate) fn click(&self, selector: &str) {
        self.with_element(selector, |element| {
            self.try_ask("POST", &format!("{element}/click"), &json!({}))
        });
    }

    /// Types into the first field that a selector finds, in the place of what is there.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        self.with_element(selector, |element| {
            self.try_ask("POST", &format!("{element}/clear"), &json!({}))?;
            let text = json!({"text": text});
            self.try_ask("POST", &format!("{element}/value"), &text)
        });
    }

    /// Goes back to the page before.
    pub(crate) fn back(&self) {
        self.ask("/back", &json!({}));
    }

    /// Ends all sessions of the page's server that the browser has.
    pub(crate) fn forget(&self) {
        self.try_ask("DELETE", "/cookie", &json!({})).unwrap();
    }

    /// Presses Ctrl and this key together.
    pub(crate) fn press_with_control(&self, key: &str) {
        let keys = ["keyDown", "keyUp"].map(|what| json!({"type": what, "value": key}));
        let [down, up] = ["keyDown", "keyUp"].map(|what| json!({"type": what, "value": CONTROL}));
        let [press, release] = keys;
        let actions = json!([down, press, release, up]);
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.ask("/actions", &json!({"actions": [keyboard]}));
    }

    /// Returns the number of elements that a selector finds.
    pub(crate) fn count(&self, selector: &str) -> usize {
        let selector = json!({"using": "css selector", "value": selector});
        let found = self.try_ask("POST", "/elements", &selector);
        found.map_or(0, |found| found.as_array().map_or(0, Vec::len))
    }

    /// Returns the text of the first element that a selector finds, as it is seen; `None` while there is none.
    pub(crate) fn text(&self, selector: &str) -> Option<String> {
        let selector = json!({"using": "css selector", "value": selector});
        let found = self.try_ask("POST", "/element", &selector).ok()?;
        let path = format!("/element/{}/text", found[ELEMENT].as_str()?);
        let text = self.try_ask("GET", &path, &json!({})).ok()?;
        text.as_str().map(str::to_owned)
    }

    /// Returns the width of the first element that a selector finds.
    pub(crate) fn width(&self, selector: &str) -> f64 {
        let path = format!("{}/rect", self.element(selector));
        let rect = self.try_ask("GET", &path, &json!({})).unwrap();
        rect["width"].as_f64().unwrap()
    }

    /// Shows pages in this width, light or dark.
    pub(crate) fn show(&self, width: u32, is_dark: bool) {
        let shade = match is_dark {
            true => "dark",
            false => "light",
        };
        let scheme = json!({"name": "prefers-color-scheme", "value": shade});
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        for (command, values) in [
            ("Emulation.setEmulatedMedia", json!({"features": [scheme]})),
            ("Emulation.setDeviceMetricsOverride", size),
        ] {
            self.ask(
                "/goog/cdp/execute",
                &json!({"cmd": command, "params": values}),
            );
        }
    }

    /// Runs a script in the page, and returns the value that it gives to its argument `done`.
    pub(crate) fn run_until_done(&self, script: &str) -> Value {
        let script = format!("const done = arguments[0]; {script}");
        self.ask("/execute/async", &json!({"script": script, "args": []}))
    }

    /// Returns the HTML of the page.
    pub(crate) fn source(&self) -> String {
        let source = self.try_ask("GET", "/source", &json!({})).unwrap();
        source.as_str().unwrap().to_owned()
    }

    /// Returns what the browser has complained about.
    pub(crate) fn complaints(&self) -> String {
        self.ask("/se/log", &json!({"type": "browser"})).to_string()
    }
}
