//! The control room on this machine, for whoever starts it.

use crate::{
    ControlRoom,
    room::{hex, is_same, random},
    router::router,
    wording,
};
use agents_core::run::Timestamp;
use agents_runtime::Principal;
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
};
use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};

/// Time in seconds for which a session lasts after its last use.
const SESSION: u64 = 12 * 60 * 60;

/// Returns when a session ends that was used last at this time.
fn end_of_session(used: Timestamp) -> Timestamp {
    Timestamp::from_millis(used.as_millis() + SESSION * 1_000)
}

/// Control room of this machine that listens at its address, and is not yet served. [`serve`] opens and serves a
/// control room in one call.
///
/// ```no_run
/// use agents_runtime::{Runtime, SqliteStore};
/// use agents_server::Server;
///
/// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Runtime::client(SqliteStore::open("agents.db").await?);
/// let server = Server::bind(&client, "127.0.0.1:0").await?; // any free port
/// println!("open {}", server.url());
/// server.run().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    app: Router,
    url: String,
}

/// Error of a control room that cannot be opened.
///
/// ```
/// use agents_runtime::{Runtime, SqliteStore};
/// use agents_server::{ServeError, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Runtime::client(SqliteStore::in_memory().await?);
/// // Whoever opens the page is the operator, so other machines must not reach it.
/// let error = Server::bind(&client, "0.0.0.0:0").await.unwrap_err();
/// assert!(matches!(error, ServeError::NotLoopback(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is one that other machines can reach.
    NotLoopback(SocketAddr),
    /// The address cannot be looked up, or the server cannot listen there.
    Io(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::NotLoopback(address) => f.write_str(&wording::not_loopback(address)),
            ServeError::Io(error) => write!(f, "the control room cannot be opened: {error}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Io(error) => Some(error),
            ServeError::NotLoopback(_) => None,
        }
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        ServeError::Io(error)
    }
}

/// Opens the control room at an address of this machine, prints its URL on standard output, and serves it until the
/// process ends.
///
/// Whoever opens the URL is the [operator](Principal::operator) from then on: the URL holds a secret of this start of the
/// server. The session ends twelve hours after its last use; a restart of the server does not end it, unless the store
/// is one in memory. For users with rights of their own, put [`router`] into an application that knows them. The
/// [crate's page](crate) has an example of each.
///
/// # Errors
/// When the address is not one of this machine alone or cannot be looked up, or when the server cannot listen there.
pub async fn serve(
    room: impl Into<ControlRoom>,
    address: impl ToSocketAddrs,
) -> Result<(), ServeError> {
    let server = Server::bind(room, address).await?;
    println!("listening on {}", server.url());
    server.run().await
}

impl Server {
    /// Opens the control room at an address of this machine. Port 0 takes any port that is free.
    ///
    /// # Errors
    /// With [`ServeError::NotLoopback`] if other machines reach the address, and with [`ServeError::Io`] if the address
    /// cannot be looked up or the server cannot listen there.
    pub async fn bind(
        room: impl Into<ControlRoom>,
        address: impl ToSocketAddrs,
    ) -> Result<Self, ServeError> {
        let addresses: Vec<_> = lookup_host(address).await?.collect();
        if let Some(open) = addresses.iter().find(|address| !address.ip().is_loopback()) {
            return Err(ServeError::NotLoopback(*open));
        }
        let room = room.into();
        let listener = TcpListener::bind(&*addresses).await?;
        let address = listener.local_addr()?;
        let token = hex(&random());
        let key = room.client.key_for("sessions of the control room");
        let door = Arc::new(Door {
            // Browsers send the cookies of one port to all ports of a host.
            cookie: format!("agents_{}", address.port()),
            // Without a keyring, a session ends with the process.
            key: key.unwrap_or_else(|_| random()),
            url_token: token.clone(),
            port: address.port(),
        });
        let keeper = door.clone();
        let signed_in = move |request: &Parts| {
            let until = keeper.until(&request.headers, Timestamp::now());
            until.map(|_| Principal::operator())
        };
        let app = router(room, signed_in).layer(middleware::from_fn_with_state(door, enter));
        Ok(Server {
            listener,
            app,
            url: format!("http://{address}/?token={token}"),
        })
    }

    /// Returns the URL that signs in whoever opens it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves the control room until the process ends.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn run(self) -> Result<(), ServeError> {
        Ok(axum::serve(self.listener, self.app).await?)
    }
}

/// Secrets by which a visitor is let in: the token of the URL, and the key of the sessions, whose cookies say until when
/// they last.
struct Door {
    cookie: String,
    key: [u8; 32],
    url_token: String,
    port: u16,
}

impl Door {
    /// Returns the value of the cookie of a session that lasts until then.
    fn session(&self, until: Timestamp) -> String {
        let until = until.as_millis();
        let proof = hmac_sha256::HMAC::mac(format!("{} {until}", self.cookie), self.key);
        format!("{until}.{}", hex(&proof))
    }

    /// Returns the header that begins a session, or makes it last longer.
    fn begun(&self, now: Timestamp) -> String {
        let (name, session) = (&self.cookie, self.session(end_of_session(now)));
        format!("{name}={session}; Path=/; HttpOnly; SameSite=Lax")
    }

    /// Returns the time at which the session of a visitor ends; `None` if the visitor has none.
    fn until(&self, headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
        let cookies = headers.get_all(header::COOKIE);
        let cookies = cookies.iter().filter_map(|cookies| cookies.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
        pairs.find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            let until = value.split_once('.')?.0.parse().ok()?;
            let until = Timestamp::from_millis(until);
            let is_known = name == self.cookie && is_same(value, &self.session(until));
            (is_known && now < until).then_some(until)
        })
    }

    /// Returns `true` if the request's header `Host` names this machine, as `localhost` or by a loopback address. Any
    /// other name may belong to another site that leads here.
    fn is_named(&self, headers: &HeaderMap) -> bool {
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let port = format!(":{}", self.port);
        let name = host.and_then(|host| match host.strip_suffix(&*port) {
            // Browsers leave the port of plain HTTP out.
            None if self.port == 80 => Some(host),
            name => name,
        });
        name.is_some_and(|name| matches!(name, "localhost" | "[::1]") || is_ipv4_loopback(name))
    }
}

fn is_ipv4_loopback(name: &str) -> bool {
    let address = name.parse::<std::net::Ipv4Addr>();
    address.is_ok_and(|address| address.is_loopback())
}

/// Refuses requests that name another host, signs in whoever shows the token of the URL, and makes sessions last that are
/// used.
async fn enter(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    if !door.is_named(request.headers()) {
        return (StatusCode::MISDIRECTED_REQUEST, wording::OTHER_HOST).into_response();
    }
    let query = request.uri().query().unwrap_or_default();
    let token = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("token="));
    match token {
        Some(token) if request.uri().path() == "/" && is_same(token, &door.url_token) => {
            let cookie = [(header::SET_COOKIE, door.begun(Timestamp::now()))];
            (cookie, Redirect::to("/approvals")).into_response()
        }
        _ => {
            let now = Timestamp::now();
            let until = door.until(request.headers(), now);
            let mut response = next.run(request).await;
            if until.is_some_and(|until| until.since(now) < Duration::from_secs(SESSION / 2))
                && let Ok(cookie) = HeaderValue::from_str(&door.begun(now))
            {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(port: u16) -> Door {
        Door {
            cookie: format!("agents_{port}"),
            key: [7; 32],
            url_token: String::new(),
            port,
        }
    }

    fn is_named(port: u16, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        door(port).is_named(&headers)
    }

    #[test]
    fn a_session_lasts_until_its_time_and_is_known_to_every_start_of_the_server() {
        let (before, after) = (door(4170), door(4170));
        let now = Timestamp::from_millis(1_795_000_000_000);
        let cookie = before.begun(now);
        let cookie = cookie.split(';').next().unwrap();
        let until = |door: &Door, cookie: &str, at| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, cookie.parse().unwrap());
            door.until(&headers, at)
        };
        let end = end_of_session(now);
        assert_eq!(until(&after, cookie, now), Some(end));
        assert_eq!(until(&after, &format!("other=1; {cookie}"), now), Some(end));
        assert_eq!(until(&after, cookie, end), None);
        // Nobody else can make one, nor make one last longer.
        let (_, proof) = cookie.split_once('.').unwrap();
        let later = format!("agents_4170={}.{proof}", end.as_millis() + 1);
        assert_eq!(until(&after, &later, now), None);
        assert_eq!(until(&door(4171), cookie, now), None);
        let other = Door {
            key: [8; 32],
            ..door(4170)
        };
        assert_eq!(until(&other, cookie, now), None);
        assert_eq!(until(&after, "agents_4170=1.x", now), None);
    }

    #[test]
    fn a_browser_leaves_port_80_out() {
        for name in ["localhost", "127.0.0.1", "[::1]"] {
            assert!(is_named(80, name), "{name}");
            assert!(is_named(80, &format!("{name}:80")), "{name}");
            assert!(is_named(4170, &format!("{name}:4170")), "{name}");
            assert!(!is_named(4170, name), "{name}");
            assert!(!is_named(80, &format!("{name}:4170")), "{name}");
        }
        assert!(!is_named(80, "evil.example"));
        assert!(!is_named(80, ""));
    }
}
