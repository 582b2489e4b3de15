//! Names of servers and tools, in a form that every model can write.

use std::path::Path;

/// Longest name of a tool that every provider of models takes.
const LONGEST: usize = 64;

/// Words in a program's or host's name that many servers have in common, so that they are left out.
const COMMON: [&str; 11] = [
    "mcp", "server", "stdio", "http", "https", "www", "api", "com", "org", "net", "io",
];

/// Returns the text with `_` in place of each character that models cannot write in a tool's name.
pub(super) fn written(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let letters = text.chars().map(|c| if is_plain(c) { c } else { '_' });
    letters.collect()
}

/// Returns a server's name made of that of its program: `github` of `/usr/bin/github-mcp-server`.
pub(super) fn of_program(program: &str) -> String {
    let stem = Path::new(program).file_stem();
    without_common(&stem.unwrap_or_default().to_string_lossy())
}

/// Returns a server's name made of the host of its URL: `linear` of `https://mcp.linear.app/sse`.
#[cfg(feature = "http")]
pub(super) fn of_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    // The last label says where a host is registered.
    let is_address = host.starts_with('[') || host.chars().all(|c| c.is_ascii_digit() || c == '.');
    match (is_address, host.rsplit_once('.')) {
        (false, Some((rest, _))) => without_common(rest),
        _ => without_common(host),
    }
}

/// Returns a URL for messages: without its query, which may hold a secret, and without a user.
#[cfg(feature = "http")]
pub(super) fn without_query(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}

fn without_common(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let told: Vec<_> = words
        .filter(|word| !COMMON.contains(&word.to_ascii_lowercase().as_str()))
        .collect();
    match told.is_empty() {
        true => "mcp".to_owned(),
        false => told.join("_").to_ascii_lowercase(),
    }
}

/// Returns the name by which models know a tool of this server: `own` is the tool's name at the server. A name that
/// already begins with that of the server stays. A name is cut after 64 characters.
pub(super) fn of_tool(server: &str, own: &str) -> String {
    let own = written(own);
    let prefix = format!("{server}_");
    let mut name = match own.starts_with(&prefix) {
        true => own,
        false => prefix + &own,
    };
    name.truncate(LONGEST);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_server_is_what_tells_it_apart() {
        for (program, name) in [
            ("github-mcp-server", "github"),
            ("/opt/tools/Weather_Server.exe", "weather"),
            ("mcp-server", "mcp"),
            ("npx", "npx"),
        ] {
            assert_eq!(of_program(program), name);
        }
        #[cfg(feature = "http")]
        for (url, name) in [
            ("https://mcp.linear.app/sse?key=1", "linear"),
            ("http://localhost:8000/mcp", "localhost"),
            (
                "https://user:secret@api.githubcopilot.com/mcp/",
                "githubcopilot",
            ),
            ("http://127.0.0.1:80/mcp", "127_0_0_1"),
        ] {
            assert_eq!(of_url(url), name);
        }
    }

    #[test]
    fn models_can_write_the_name_of_every_tool() {
        assert_eq!(of_tool("github", "search"), "github_search");
        assert_eq!(of_tool("github", "github_search"), "github_search");
        assert_eq!(of_tool("files", "read/file.txt ü"), "files_read_file_txt__");
        assert_eq!(of_tool("a", &"b".repeat(99)).len(), 64);
    }

    #[cfg(feature = "http")]
    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        let url = "https://user:secret@host/path?token=secret#x";
        assert_eq!(without_query(url), "https://host/path");
        assert_eq!(without_query("http://host/path"), "http://host/path");
    }
}
