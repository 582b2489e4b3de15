//! The example `control_room`, driven from outside: two servers of one store, and a kill.

use crate::room::{Program, command, folder, ledger, until};
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::Duration,
};

/// Control room that a visitor has signed in to.
struct Room {
    program: Program,
    address: String,
    cookie: String,
}

/// Status, head and body of an answer.
pub(crate) struct Answer(pub(crate) u16, pub(crate) String, pub(crate) String);

pub(crate) fn send(address: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer(status, head.to_owned(), body.to_owned())
}

impl Room {
    fn open(folder: &Path) -> Room {
        let program = Program::start(folder);
        let (address, path) = program
            .url
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let address = address.to_owned();
        let get = format!("GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        let Answer(status, head, _) = send(&address, &get);
        assert_eq!(status, 303, "{head}");
        let cookie = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))
            .unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Room {
            program,
            address,
            cookie,
        }
    }

    fn get(&self, path: &str) -> Answer {
        let Room {
            address, cookie, ..
        } = self;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
        );
        send(address, &head)
    }

    fn decide(&self, card: &str, decision: &str) -> Answer {
        let Room {
            address, cookie, ..
        } = self;
        let (path, token) = (
            attribute(card, "action"),
            attribute(card, "name=\"token\" value"),
        );
        let body = format!("decision={decision}&token={token}&note=&arguments=");
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\nconnection: close\r\n"
        );
        send(
            address,
            &format!(
                "{head}content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
        )
    }

    /// Waits until the inbox has this many cards, and returns them.
    fn cards(&self, count: usize) -> Vec<String> {
        until("the cards", || {
            let page = self.get("/approvals").2;
            let cards: Vec<_> = page.split("<article").skip(1).map(str::to_owned).collect();
            (cards.len() == count).then_some(cards)
        })
    }
}

fn attribute<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("{name}=\"")).unwrap();
    rest.split_once('"').unwrap().0
}

#[test]
fn two_servers_of_one_store_decide_once_and_a_killed_one_goes_on() {
    let folder = folder("two");
    let first = Room::open(&folder);
    let cards = first.cards(3);
    assert!(
        cards
            .iter()
            .all(|card| attribute(card, "data-tool") == "pay")
    );
    let second = Room::open(&folder);
    assert_eq!(
        second.cards(3).len(),
        3,
        "a second server starts no runs beside those that wait"
    );

    assert_eq!(first.decide(&cards[0], "approve").0, 303);
    assert_eq!(second.cards(2).len(), 2);
    let paid = ledger(&folder, 1);
    let (_, amount) = paid[0].rsplit_once(' ').unwrap();
    assert!(["12", "88.5", "940"].contains(&amount), "{paid:?}");

    let denied = second.cards(2).remove(0);
    assert_eq!(second.decide(&denied, "deny").0, 303);
    let late = first.decide(&cards[0], "deny");
    assert_eq!(late.0, 409, "{}", late.2);

    // The last one is sent back; the server that runs it is killed, and so is the other.
    let left = first.cards(1).remove(0);
    let correlation = attribute(&left, "data-correlation-id").to_owned();
    assert_eq!(first.decide(&left, "revise").0, 303);
    drop(first);
    drop(second);
    let third = Room::open(&folder);
    let again = loop {
        let card = third.cards(1).remove(0);
        if attribute(&card, "data-approval-id") != attribute(&left, "data-approval-id") {
            break card;
        }
    };
    assert_eq!(attribute(&again, "data-correlation-id"), correlation);
    assert_eq!(third.decide(&again, "approve").0, 303);
    assert_eq!(ledger(&folder, 2).len(), 2);
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn only_the_url_signs_in_and_only_this_host_is_answered() {
    let folder = folder("door");
    let room = Room::open(&folder);
    let address = &room.address;
    let ask = |path: &str, host: &str, cookie: &str| {
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
        );
        send(address, &head).0
    };
    assert_eq!(ask("/approvals", address, "none=1"), 401);
    assert_eq!(ask("/?token=0000", address, "none=1"), 401);
    assert_eq!(ask("/approvals", address, &room.cookie), 200);
    assert_eq!(ask("/approvals", "evil.example", &room.cookie), 421);
    let port = address.rsplit_once(':').unwrap().1;
    assert_eq!(
        ask("/approvals", &format!("localhost:{port}"), &room.cookie),
        200
    );
    assert!(room.program.url.contains("token="));
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    for args in [&["--listen"][..], &["--store", "file"], &["--port", "7878"]] {
        let output = command().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}
