//! Notifications: typed events that one context publishes for others, and the subscribers that take them.

mod contents;
mod publish;
mod subscriber;
mod wording;
mod worker;

pub(crate) use contents::{Failures, NotificationContents, key_of_letter};
pub use publish::Publish;
pub use subscriber::{Subscriber, Told};

use serde::{Serialize, de::DeserializeOwned};

/// Notification: a typed event that one context publishes, and that others take without naming the types of its agents.
///
/// The type belongs to the contract of the context that publishes it. The [`NAME`](Notification::NAME) is stored with
/// each notification, so keep it when you rename the type. Fields that are added later need a serde default: letters of
/// earlier versions may still be on their way.
///
/// ```
/// use agents_runtime::{DeliveryError, Notification, Principal, Runtime, SqliteStore, Subscriber, Told};
/// use serde::{Deserialize, Serialize};
///
/// /// An order has left the house.
/// #[derive(Serialize, Deserialize)]
/// struct OrderShipped {
///     order: u32,
/// }
///
/// impl Notification for OrderShipped {
///     const NAME: &'static str = "shop.order_shipped";
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (send, mut taken) = tokio::sync::mpsc::unbounded_channel();
/// let invoices = Subscriber::new("invoices", move |shipped: OrderShipped, told: Told| {
///     # let send = send.clone();
///     async move {
///         // The id is the same for each try: whoever has seen it before does nothing.
///         println!("invoice {} of {} for {}", told.id(), shipped.order, told.scope().tenant_id());
///         # let _ = send.send(shipped.order);
///         Ok::<_, DeliveryError>(())
///     }
/// });
/// let runtime = Runtime::open(SqliteStore::in_memory().await?).subscriber(invoices);
/// # let stop = tokio_util::sync::CancellationToken::new();
/// # let worker = tokio::spawn(runtime.clone().work(stop.clone()));
///
/// let ada = Principal::new("ada", "acme");
/// runtime.publish(&OrderShipped { order: 7 }).scope("acme").by(&ada).key("order-7").await?;
/// # assert_eq!(taken.recv().await, Some(7));
/// # stop.cancel();
/// # worker.await?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a notification",
    label = "expected a notification",
    note = "name it: `impl Notification for {Self} {{ const NAME: &'static str = \"shop.order_shipped\"; }}`; serde's two derives are needed as well"
)]
pub trait Notification: Serialize + DeserializeOwned + Send + 'static {
    /// Name under which notifications of this type are stored, such as `shop.order_shipped`. No other type has it.
    const NAME: &'static str;
}
