//! Thread that starts all boxes of this process.
//!
//! The kernel kills a box when the thread that started it ends. Threads of a runtime may end while the runtime goes on, so the
//! boxes are started by a thread that lives as long as the process.

use super::running::Running;
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        OnceLock,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};
use tokio::{process::Command, runtime::Handle, sync::oneshot};

/// Command that a thread is to start, with the runtime that will wait for it.
struct Order {
    command: Command,
    runtime: Handle,
    started: oneshot::Sender<io::Result<Running>>,
}

/// Starts a command on the thread that starts boxes. If the caller has gone by then, the box is dropped, and killed
/// with that.
pub(super) async fn spawn(command: Command) -> io::Result<Running> {
    let (started, running) = oneshot::channel();
    let order = Order {
        command,
        runtime: Handle::current(),
        started,
    };
    let gone =
        || io::Error::other("the thread that starts boxes is gone, or the runtime has no I/O");
    orders()?.send(order).map_err(|_| gone())?;
    running.await.unwrap_or_else(|_| Err(gone()))
}

fn orders() -> io::Result<&'static Sender<Order>> {
    static ORDERS: OnceLock<Sender<Order>> = OnceLock::new();
    if let Some(orders) = ORDERS.get() {
        return Ok(orders);
    }
    let (orders, received) = channel();
    // If two threads come here at once, the second one ends when its sender is dropped: it has started nothing.
    thread::Builder::new()
        .name("agents-sandbox".to_owned())
        .spawn(move || work(&received))?;
    Ok(ORDERS.get_or_init(|| orders))
}

fn work(received: &Receiver<Order>) {
    while let Ok(mut order) = received.recv() {
        let _in_runtime = order.runtime.enter();
        // tokio panics if the runtime has no I/O. The order is dropped then, which tells whoever asked.
        let child = catch_unwind(AssertUnwindSafe(|| order.command.spawn()));
        if let Ok(child) = child {
            let _ = order.started.send(child.map(Running::new));
        }
    }
}
