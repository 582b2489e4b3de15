use super::Execution;
#[cfg(any(test, feature = "testing"))]
use crate::context::{Root, Settings};
use crate::{
    Json, ToolFailure,
    context::{RunContext, Stopwatch},
    media::collect,
    scope::Scope,
    secret::{Masker, Secret, SecretError},
    shared::Shared,
};
use std::{fmt, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Context of a tool call: its ids, its attempt, its time limit, cancellation and secrets.
///
/// Take `cx: &ToolContext` as a parameter.
///
/// ```
/// # use agents_core as agents;
/// use agents::tool::{Effects, FnTool};
/// use serde_json::json;
///
/// let schema = json!({"type": "object"});
/// let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, cx| async move {
///     // The same for each attempt of this call: the bank pays once.
///     let key = cx.idempotency_key();
///     Ok::<_, std::io::Error>(format!("{}: attempt {} of {key}", cx.tenant_id(), cx.attempt()))
/// });
/// ```
#[derive(Clone)]
pub struct ToolContext {
    pub(crate) cx: RunContext,
    pub(crate) call_id: Arc<str>,
    /// Text that identifies the call with these arguments within the run. The idempotency key is made from this text.
    pub(crate) key: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) attempt: u32,
    pub(crate) approved: bool,
    /// Answer of a person, if the call asks a question.
    pub(crate) answer: Option<Json>,
    /// Deadline of this execution; `None` before the execution begins.
    pub(crate) watch: Option<Shared<Stopwatch>>,
    pub(crate) execution: Shared<Execution>,
}

impl ToolContext {
    /// Creates a context outside of any run, for unit tests of the function behind a tool.
    ///
    /// The context has a run of its own, of an empty scope, with neither a model nor secrets.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::ToolContext;
    ///
    /// async fn pay(cents: u32, cx: &ToolContext) -> String {
    ///     format!("{cents} cents, attempt {}", cx.attempt())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let cx = ToolContext::detached("pay");
    /// assert_eq!(pay(100, &cx).await, "100 cents, attempt 1");
    /// assert!(cx.find_secret("bank").await.unwrap().is_none());
    /// # }
    /// ```
    #[cfg(any(test, feature = "testing"))]
    pub fn detached(tool: &str) -> Self {
        let root = Root::new(
            Settings::default(),
            "",
            String::new(),
            None,
            None,
            String::new(),
        );
        ToolContext {
            cx: RunContext::root(root),
            call_id: tool.into(),
            key: tool.into(),
            tool: tool.into(),
            attempt: 1,
            approved: false,
            answer: None,
            watch: None,
            execution: Shared::default(),
        }
    }

    /// Serialises an output of the tool. Its images, files and tables are taken out for the receipt and the model.
    pub(crate) fn output_of<T: serde::Serialize + ?Sized>(
        &self,
        output: &T,
    ) -> Result<Json, serde_json::Error> {
        let (json, collected) = collect(output)?;
        self.execution.collect(collected);
        Ok(json)
    }

    /// Returns the id of the call, which its receipt has too. The id is the same for every attempt and on any machine.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the id of the run to which the call belongs.
    pub fn run_id(&self) -> &str {
        self.cx.run_id()
    }

    /// Returns the name by which the tool was called.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the number of this execution of the call, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns `true` if a person or a program approved this call with these arguments. The approval covers every
    /// execution of the call with these arguments.
    ///
    /// The approval covers nothing else, so the tool should do nothing else. For example, it should return the address
    /// to which a server redirects, instead of following the redirect.
    pub fn is_approved(&self) -> bool {
        self.approved
    }

    /// Returns the time left before this execution is stopped; `None` if no execution has begun.
    ///
    /// The clock stops while a person is asked about a call of an agent within this execution, and while such an agent
    /// waits because a person has paused the run.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::ToolContext;
    /// use std::time::Duration;
    ///
    /// // As many pages as there is time for: a part is better than a timeout.
    /// async fn crawl(pages: Vec<String>, cx: &ToolContext) -> Vec<String> {
    ///     let mut found = Vec::new();
    ///     for page in pages {
    ///         if cx.time_left().is_some_and(|left| left < Duration::from_secs(2)) {
    ///             break;
    ///         }
    ///         found.push(page); // fetch(page).await
    ///     }
    ///     found
    /// }
    /// # let _ = crawl;
    /// ```
    pub fn time_left(&self) -> Option<Duration> {
        self.watch.as_ref().map(|watch| watch.left())
    }

    /// Returns a token that is cancelled when this execution or the run ends: hand it to the tasks that you spawn.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::ToolContext;
    ///
    /// // A blocking task does not end with the future that waits for it: it has to look.
    /// async fn count(to: u64, cx: &ToolContext) -> u64 {
    ///     let cancelled = cx.cancellation().clone();
    ///     let work = move || (0..to).take_while(|_| !cancelled.is_cancelled()).count() as u64;
    ///     tokio::task::spawn_blocking(work).await.unwrap_or(0)
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(count(1_000, &ToolContext::detached("count")).await, 1_000);
    /// # }
    /// ```
    pub fn cancellation(&self) -> &CancellationToken {
        self.execution.cancellation(&self.cx.root.settings.cancel)
    }

    /// Returns an idempotency key for external services. The key is the same for every attempt of this call with
    /// these arguments, in any process. If an arm or a repair agent changes the arguments after an attempt, the
    /// key changes. The key is made with a random key of the run, so that it reveals nothing about the arguments.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::ToolContext;
    ///
    /// // A second attempt after a timeout does not pay twice.
    /// async fn pay(cents: u32, cx: &ToolContext) -> String {
    ///     format!("POST /payments, Idempotency-Key: {}, {cents}", cx.idempotency_key())
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let cx = ToolContext::detached("pay");
    /// assert_eq!(pay(100, &cx).await, pay(100, &cx).await);
    /// # }
    /// ```
    pub fn idempotency_key(&self) -> String {
        let key = self.cx.root.key();
        let key = key.map_or_else(|| self.key.clone(), |key| key.digest(&self.key));
        format!("{}:{key}", self.run_id())
    }

    /// Returns the fencing token of the lease under which this process works on the run; `None` outside of a durable
    /// runtime.
    ///
    /// A worker may stand still for so long that another worker has taken over its run. If it wakes up in the middle of
    /// a tool call, nothing in its process can hold the tool back. A system outside can, if it keeps the greatest token
    /// of each run and refuses smaller tokens. Tokens of different runs say nothing about each other. A nested run has
    /// the token of the run around it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::ToolContext;
    /// # use std::{collections::HashMap, sync::{Mutex, PoisonError}};
    ///
    /// /// Door of a bank that keeps the greatest token of each run.
    /// #[derive(Default)]
    /// struct Bank(Mutex<HashMap<String, u64>>);
    ///
    /// impl Bank {
    ///     fn pay(&self, cents: u32, run: &str, fence: u64) -> Result<String, String> {
    ///         let mut greatest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
    ///         let greatest = greatest.entry(run.to_owned()).or_default();
    ///         if fence < *greatest {
    ///             return Err(format!("token {fence} is old: the run has {greatest}"));
    ///         }
    ///         *greatest = fence;
    ///         Ok(format!("{cents} cents are paid"))
    ///     }
    /// }
    ///
    /// async fn pay(cents: u32, bank: &Bank, cx: &ToolContext) -> Result<String, String> {
    ///     // Without a runtime there is one process, and nothing to check.
    ///     bank.pay(cents, cx.run_id(), cx.fence().unwrap_or_default())
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (bank, cx) = (Bank::default(), ToolContext::detached("pay"));
    /// assert_eq!(pay(100, &bank, &cx).await.as_deref(), Ok("100 cents are paid"));
    /// # }
    /// ```
    pub fn fence(&self) -> Option<u64> {
        self.cx.root.settings.fence
    }

    /// Returns the scope that the run works for.
    pub fn scope(&self) -> &Scope {
        self.cx.scope()
    }

    /// Returns the tenant that the run works for.
    pub fn tenant_id(&self) -> &str {
        self.scope().tenant_id()
    }

    /// Returns a required secret: the run's own, else the user's, the workspace's or the organisation's; see
    /// [`secret`](crate::secret).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{ToolContext, secret::SecretError};
    ///
    /// async fn ask_crm(question: String, cx: &ToolContext) -> Result<String, SecretError> {
    ///     let key = cx.secret("crm").await?;
    ///     // send(question, key.expose_secret())
    /// #   let _ = (question, key);
    ///     Ok("nobody is called ACME".into())
    /// }
    /// ```
    ///
    /// # Errors
    /// When no scope has the secret, when the secret is too short to be masked, or when the secret cannot be looked up.
    /// If the tool then returns an error, the call has the code of the first secret that was lacking: `AUTH_REQUIRED`
    /// or, if the secret could not be looked up, `PROVIDER_ERROR`. An error of the tool that names a code of its own
    /// keeps that code. A call with `AUTH_REQUIRED` is not retried.
    pub async fn secret(&self, name: &str) -> Result<Secret, SecretError> {
        let found = self.find_secret(name).await;
        let secret = found.and_then(|secret| secret.ok_or_else(|| SecretError::missing(name)));
        if let Err(error) = &secret {
            self.execution.lacks(error.code());
            self.missing(name, error);
        }
        secret
    }

    /// Returns an optional secret, or `None` if no scope has the secret. Scopes are asked as by
    /// [`secret`](Self::secret).
    ///
    /// # Errors
    /// When a secret cannot be looked up, or is too short to be masked.
    pub async fn find_secret(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let secret = self.cx.secret(name).await?;
        if let Some(secret) = &secret {
            let (scope, fallback) = (secret.scope(), secret.is_fallback());
            match fallback {
                true => tracing::warn!(
                    tool = %self.tool, secret = name, %scope,
                    "a secret of the whole organisation is used: neither the user nor the workspace has one"
                ),
                false => {
                    tracing::debug!(tool = %self.tool, secret = name, %scope, "a secret is used")
                }
            }
            self.cx.asked_for_secret(name, Ok((scope, fallback)));
        }
        Ok(secret)
    }

    fn missing(&self, name: &str, error: &SecretError) {
        let reason = error.to_string();
        tracing::warn!(tool = %self.tool, secret = name, %reason, "a secret is missing");
        self.cx.asked_for_secret(name, Err(reason));
    }

    /// Returns the masker of the run's secrets, for text that the tool logs or stores itself.
    pub fn masker(&self) -> &Arc<Masker> {
        self.cx.masker()
    }

    /// Returns the place of the call in the run: pass it to `agent.run_in(cx.run(), input)` in a
    /// task that you spawn, so that the agent there belongs to this run.
    pub fn run(&self) -> &RunContext {
        &self.cx
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call_id", &self.call_id)
            .field("run_id", &self.run_id())
            .field("tool", &self.tool)
            .field("attempt", &self.attempt)
            .field("scope", self.scope())
            .finish_non_exhaustive()
    }
}
