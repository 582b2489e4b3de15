//! Texts of the HTTP tool: those that models are told first, then those that people are told.

use std::{fmt::Display, time::Duration};

// ---- what the tool is ----

pub(super) const DESCRIPTION: &str = "Ask a server over HTTP. The answer has the status, some headers, and the body as JSON or text; long bodies are cut.";
pub(super) const METHOD: &str = "GET where nothing is said.";
pub(super) const BODY: &str = "What to send: JSON, or a string as plain text.";

pub(super) fn url(hosts: &[String]) -> String {
    let hosts = match hosts {
        [] => "none".to_owned(),
        hosts => hosts.join(", "),
    };
    format!("The whole URL. Allowed hosts: {hosts}.")
}

// ---- requests that are refused ----

pub(super) const NOT_HTTP: &str = "has to begin with `http://` or `https://`";
pub(super) const WITH_PASSWORD: &str = "has to be without a user name and a password";
pub(super) const REDIRECT_UNREADABLE: &str = "the server redirects to an invalid URL";

pub(super) fn not_a_url(error: &impl Display) -> String {
    format!("`url` is not an absolute URL: {error}")
}

/// Text of the error of a URL that is not requested; `what` is one of the constants above.
pub(super) fn url_refused(what: &str) -> String {
    format!("`url` {what}")
}

/// Text of the error of a redirect that is not followed; `what` is one of the constants above.
pub(super) fn redirect_refused(what: &str) -> String {
    format!("the server redirects: the URL {what}")
}

pub(super) fn too_many_redirects(most: usize) -> String {
    format!("the server redirects more than {most} times")
}

pub(super) fn method_refused(method: &impl Display, allowed: &[String]) -> String {
    format!(
        "the method `{method}` is not allowed; allowed are {}",
        allowed.join(", ")
    )
}

/// Text of the error of a host that is not allowed. `is_first` is `false` if the server redirects there.
pub(super) fn host_refused(host: &str, allowed: &[String], is_first: bool) -> String {
    let allowed: Vec<_> = allowed.iter().map(|host| format!("`{host}`")).collect();
    let allowed = match &allowed[..] {
        [] => "no host is".to_owned(),
        hosts => format!("allowed are {}", hosts.join(", ")),
    };
    match is_first {
        true => format!("the host `{host}` is not allowed; {allowed}"),
        false => format!("the server redirects to `{host}`, which is not allowed; {allowed}"),
    }
}

/// Text of the error of a host that may not be asked over plain HTTP. `is_first` is `false` if the server redirects
/// there.
pub(super) fn plain_http_refused(host: &str, is_first: bool) -> String {
    match is_first {
        true => format!("`{host}` may not be asked over plain HTTP; ask it over `https://`"),
        false => {
            format!("the server redirects to `{host}` over plain HTTP, which is not allowed")
        }
    }
}

pub(super) fn private_address(host: &str) -> String {
    format!("`{host}` leads to a private address, which is not allowed")
}

// ---- requests that fail ----

pub(super) const CREDENTIALS_REFUSED: &str =
    "requires credentials, or refused those that were sent";
pub(super) const ASKED_TOO_OFTEN: &str = "was asked too often";
pub(super) const FAILED: &str = "failed";

/// Text of the error for a failure status. `what` is one of the constants above, `without` the server that got no
/// secret, and `said` its answer.
pub(super) fn of_status(what: &str, status: u16, without: Option<&str>, said: &str) -> String {
    let without = match without {
        Some(server) => format!(
            "; no secret was sent to `{server}`, because a redirect from another origin led there"
        ),
        None => String::new(),
    };
    let said = match said.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    };
    format!("the server {what} ({status}){without}{said}")
}

pub(super) fn timed_out(after: Duration) -> String {
    format!("no whole answer came within {after:?}")
}

pub(super) const NOT_REACHED: &str = "cannot be reached";
pub(super) const NOT_ASKED: &str = "cannot be asked";
pub(super) const BROKE_OFF: &str = "broke off";

/// Text of the error for a failed connection; `what` is one of the constants above.
pub(super) fn of_transport(host: &str, what: &str, error: &impl Display) -> String {
    format!("`{host}` {what}: {error}")
}

pub(super) fn header_unfit(name: &str) -> String {
    format!("the header `{name}` cannot be sent; check its name and its value")
}

pub(super) fn secret_unfit(secret: &str) -> String {
    format!("the secret `{secret}` cannot be sent in a header")
}

pub(super) const UNKNOWN_KIND: &str = "of a kind that is not said";

// ==== texts for people alone ====

pub(super) const HOW_HOSTS_ARE_WRITTEN: &str =
    "write `example.com`, `*.example.com` or `example.com:8443`";
pub(super) const HOST_UNREADABLE: &str = "it cannot be read";
pub(super) const PORT_UNREADABLE: &str = "its port is no number";

/// Text of the error of a text that is no host; `why` is one of the constants above.
pub(super) fn not_a_host(host: &str, why: &str) -> String {
    format!("`{host}` is no host: {why}")
}

pub(super) fn not_a_header(header: &str) -> String {
    format!("`{header}` is no header")
}

pub(super) fn secret_over_plain_http(host: &str) -> String {
    format!("a secret is never sent over plain HTTP: leave out the `http://` of `{host}`")
}
