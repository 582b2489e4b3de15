use crate::{printed, stopped, unique};
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

#[tokio::test]
async fn k4_sockets_of_families_that_no_namespace_holds_are_not_given() {
    // AF_VSOCK reaches the host of a virtual machine. The others are AF_ALG, AF_TIPC, AF_RXRPC and AF_PACKET.
    for family in [40, 38, 30, 33, 17] {
        let code = format!("import socket\nsocket.socket({family}, socket.SOCK_STREAM)");
        stopped(Sandbox::new(), &code, Limit::Network, "its box has none").await;
    }
    let code = "import socket\n\
                for family in [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6]: socket.socket(family).close()\n\
                socket.socketpair()\nprint('given')";
    if let Some(text) = printed(Sandbox::new(), code).await {
        assert_eq!(text, "given\n");
    }
}
