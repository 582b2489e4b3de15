//! Measures what a control plane adds to a call, beside the same client without one.
//!
//! ```console
//! $ cargo run --release -p agents-control --example plane_cost [CALLS]
//! ```
//!
//! The provider is a server on this machine that answers at once. Each call is a request of HTTP by the client for OpenAI.
//! Through the control plane it also has its profile, its circuit, its rate, its hold in the store, and its settlement with a
//! row of usage. All ways are measured in one run, in turns of 50 calls, so that a busy machine is busy for all of them. The
//! figures are medians. With PostgreSQL on the machine, its store is measured as well.

use agents_control::{
    ControlPlane, ControlStore, Controlled, ModelProfile, PostgresStore, Prices, Principal,
    PurposeKey, SqliteStore, per_second, usd,
};
use agents_core::model::{History, Message, Model, ModelError, Request};
use agents_needs::postgres::Server;
use agents_openai::openai;
use std::{
    error::Error,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

/// Calls of one way before it is the turn of the next.
const TURN: usize = 50;

const REPLY: &str = r#"{"id":"1","object":"chat.completion","model":"one","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Oslo"}}],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}}"#;

/// A way to the provider, and how long its calls took.
struct Way {
    name: &'static str,
    model: Box<dyn Model>,
    times: Vec<Duration>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let calls = std::env::args().nth(1);
    let calls = calls.map_or(Ok(2_000), |calls| calls.parse())?;
    let url = serve()?;
    let folder = std::env::temp_dir().join(format!("agents-overhead-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let memory = SqliteStore::in_memory().await?;
    let file = SqliteStore::open(folder.join("agents.db")).await?;
    let mut ways = vec![
        way("the client alone", openai("one").base_url(&url)),
        way("SQLite in memory", controlled(&memory, &url).await?),
        way("SQLite in a file", controlled(&file, &url).await?),
    ];
    if let Some(server) = Server::shared() {
        let database = server.database().await;
        let store = PostgresStore::connect(database.address()).await?;
        ways.push(way("PostgreSQL", controlled(&store, &url).await?));
    }
    // The first turn warms connections and caches up.
    turn(&mut ways).await?;
    ways.iter_mut().for_each(|way| way.times.clear());
    for _ in 0..usize::div_ceil(calls, TURN) {
        turn(&mut ways).await?;
    }
    std::fs::remove_dir_all(folder)?;
    print(&mut ways);
    Ok(())
}

fn way(name: &'static str, model: impl Model) -> Way {
    Way {
        name,
        model: Box::new(model),
        times: Vec::new(),
    }
}

/// Returns the model of a control plane on this store, whose one provider is at this address.
async fn controlled(
    store: &(impl ControlStore + Clone),
    url: &str,
) -> Result<Controlled, Box<dyn Error>> {
    let url = url.to_owned();
    let control = ControlPlane::open(store)
        .provider("local", move |target| {
            openai(target.model).base_url(&url).max_tokens(100)
        })
        .prices(Prices::default().model("local/*", 1.0, 5.0));
    let profile = ModelProfile::global(PurposeKey::Scoring)
        .model("local", "one")
        .max_output_tokens(100)
        .daily_cap(usd(1_000))
        .rate(per_second(1_000_000));
    control.activate(profile).by(&Principal::operator()).await?;
    Ok(control.model(PurposeKey::Scoring, "acme"))
}

/// Makes some calls in each way.
async fn turn(ways: &mut [Way]) -> Result<(), ModelError> {
    let mut history = History::new();
    history.push(Message::User {
        content: "Norway".into(),
    });
    for way in ways {
        for _ in 0..TURN {
            let begun = Instant::now();
            way.model.chat(Request::new(&history)).await?;
            way.times.push(begun.elapsed());
        }
    }
    Ok(())
}

fn print(ways: &mut [Way]) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let mut bare = None;
    println!("| way | calls | median | 95 % | added by the control plane (median) |");
    println!("|-|-|-|-|-|");
    for Way { name, times, .. } in ways {
        times.sort_unstable();
        let count = times.len();
        let (median, most) = (micros(times[count / 2]), micros(times[count * 95 / 100]));
        let added = match bare {
            None => "-".to_owned(),
            Some(bare) => format!("{:.0} µs", median - bare),
        };
        bare.get_or_insert(median);
        println!("| {name} | {count} | {median:.0} µs | {most:.0} µs | {added} |");
    }
}

/// Starts the provider, and returns its address.
fn serve() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    Ok(url)
}

/// Answers the requests of a connection, one after the other.
fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{REPLY}",
        REPLY.len()
    );
    let mut requests = BufReader::new(stream.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if requests.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().map_err(io::Error::other)?;
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        io::copy(&mut (&mut requests).take(length), &mut io::sink())?;
        stream.write_all(reply.as_bytes())?;
    }
}
