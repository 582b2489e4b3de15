use crate::{stopped, unique};
use agents_sandbox::{Limit, Sandbox};
use std::{
    io::ErrorKind,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

#[tokio::test]
async fn k4_a_server_of_the_host_is_not_reached() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    let code = format!("import socket\nsocket.create_connection(('127.0.0.1', {port}), 3)");
    stopped(Sandbox::new(), &code, Limit::Network, "its box has none").await;
    let nobody = server.accept().unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
async fn k4_no_address_outside_is_reached() {
    for code in [
        "import socket\nsocket.create_connection(('192.0.2.1', 80), 3)",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    ] {
        stopped(Sandbox::new(), code, Limit::Network, "another tool").await;
    }
}

#[tokio::test]
async fn k4_no_name_is_resolved() {
    let code = "import socket\nsocket.gethostbyname('example.com')";
    stopped(Sandbox::new(), code, Limit::Network, "network").await;
}

#[tokio::test]
async fn k4_an_abstract_socket_of_the_host_is_not_reached() {
    let name = unique("socket");
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let server = UnixListener::bind_addr(&address).unwrap();
    server.set_nonblocking(true).unwrap();
    let code = format!("import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{name}')");
    stopped(Sandbox::new(), &code, Limit::Network, "network").await;
    assert_eq!(server.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}
