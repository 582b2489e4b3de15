//! Traces for OpenTelemetry: one tree of spans for every run, in an exporter of your choice.
//!
//! [`layer`] goes on a `tracing_subscriber` registry and takes a tracer of `opentelemetry_sdk`; which
//! exporter is behind that is yours to say. The spans and their attributes are listed in
//! [`observe`](crate::observe).
//!
//! ```
//! use agents::{otel, prelude::*};
//! use opentelemetry::trace::TracerProvider;
//! use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
//! use tracing_subscriber::{Registry, layer::SubscriberExt};
//!
//! # use agents::testing::{Script, ScriptedModel};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! // In a program this is an exporter of `opentelemetry-otlp`, with a batch processor.
//! let exporter = InMemorySpanExporter::default();
//! let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
//! let subscriber = Registry::default().with(otel::layer(provider.tracer("my-program")));
//! let _guard = tracing::subscriber::set_default(subscriber); // in a program: `.init()`
//!
//! # let (model, _) = ScriptedModel::new([Script::text("4")]);
//! let adder = AgentBuilder::<String, u32>::new("adder").prompt("Add.").model(model).build();
//! let outcome = adder
//!     .run("2 + 2")
//!     .traces_url("https://traces.example.com/trace/{trace_id}")
//!     .outcome()
//!     .await?;
//!
//! let spans = exporter.get_finished_spans().unwrap();
//! let mut names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
//! names.reverse(); // they are exported as they end
//! assert_eq!(names, ["invoke_workflow adder", "invoke_agent adder", "chat scripted"]);
//!
//! let trace_id = spans[0].span_context.trace_id().to_string();
//! assert_eq!(outcome.trace.id, trace_id);
//! assert!(outcome.outputs.traces_url.unwrap().ends_with(&trace_id));
//! # Ok(())
//! # }
//! ```
//!
//! A run within a span of yours belongs to its trace. What *tools* log is theirs: what of that may hold
//! a secret does not pass through the run's [masker](crate::secret), so a tool had better not log one.

use agents_core::observe::identify_traces;
use opentelemetry::trace::{TraceContextExt, Tracer};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt};
use tracing_subscriber::registry::LookupSpan;

/// The layer that hands spans on to `tracer`, as the conventions want them. From now on the trace ids of
/// runs are those of OpenTelemetry.
pub fn layer<S, T>(tracer: T) -> OpenTelemetryLayer<S, T>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync,
{
    identify_traces(trace_id);
    tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_tracer(tracer)
}

/// The id of the trace in which a span lies; `None` if nobody traces it.
pub fn trace_id(span: &Span) -> Option<String> {
    let context = span.context();
    let context = context.span().span_context().clone();
    context.is_valid().then(|| context.trace_id().to_string())
}
