//! OpenTelemetry traces: one tree of spans for every run, in an exporter of your choice.
//!
//! [`layer`] takes a tracer of `opentelemetry_sdk` and is added to a `tracing_subscriber` registry; the
//! tracer has the exporter that you choose. The spans and their attributes are listed in
//! [`observe`](crate::observe).
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Agent, AgentBuilder, otel};
//! use opentelemetry::trace::TracerProvider;
//! use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
//! use tracing_subscriber::{Registry, layer::SubscriberExt};
//!
//! # use agents::testing::{Script, ScriptedModel};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
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
//! A run inside one of your spans belongs to the trace of that span. A resumed run continues in the trace
//! in which it began, even in another process; a span of yours around it is linked.
//!
//! Spans are passed to the processor as they end, on the task of the run. A batch processor has a thread
//! and limits of its own, so an exporter that hangs does not block a run. A simple processor exports
//! immediately and is meant for tests.
//!
//! The log lines of *tools* do not pass through the run's [masker](crate::secret), so a tool should not
//! log a secret.

use crate::observe::{Tracing, trace_with};
use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer},
};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::registry::LookupSpan;

pub use tracing_opentelemetry::OpenTelemetryLayer;

/// Creates the `tracing` layer that hands spans on to an OpenTelemetry tracer, following the GenAI
/// conventions.
///
/// Once a layer is created, a run whose span is traced by OpenTelemetry has the trace id of that span.
///
/// ```
/// # use agents_core as agents;
/// use agents::otel;
/// use opentelemetry::trace::TracerProvider;
/// use opentelemetry_sdk::trace::SdkTracerProvider;
/// use tracing_subscriber::{Layer, Registry, filter::filter_fn, layer::SubscriberExt};
///
/// let provider = SdkTracerProvider::builder().build(); // with an exporter, in a program
/// // The runs of agents alone, whatever else the program traces.
/// let agents_only = filter_fn(|meta| meta.target().starts_with("agents"));
/// let subscriber = Registry::default().with(otel::layer(provider.tracer("my-program")).with_filter(agents_only));
/// # let _ = subscriber;
/// ```
pub fn layer<S, T>(tracer: T) -> OpenTelemetryLayer<S, T>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync,
{
    trace_with(Tracing { place, set_parent });
    tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_tracer(tracer)
}

/// Returns the OpenTelemetry trace id of a span, or `None` if it is not traced.
///
/// ```
/// # use agents_core as agents;
/// use agents::otel;
/// use opentelemetry::trace::TracerProvider;
/// use opentelemetry_sdk::trace::SdkTracerProvider;
/// use tracing_subscriber::{Registry, layer::SubscriberExt};
///
/// let tracer = SdkTracerProvider::builder().build().tracer("my-program");
/// let _guard = tracing::subscriber::set_default(Registry::default().with(otel::layer(tracer)));
/// let request = tracing::info_span!("request");
/// // For the response header by which support finds the trace, the agent's run within it included.
/// assert_eq!(otel::trace_id(&request).unwrap().len(), 32);
/// ```
pub fn trace_id(span: &Span) -> Option<String> {
    context_of(span).map(|context| context.trace_id().to_string())
}

fn context_of(span: &Span) -> Option<SpanContext> {
    let context = span.context();
    let context = context.span().span_context().clone();
    context.is_valid().then_some(context)
}

/// Returns the position of a span in its trace, in the form of `traceparent`; `None` if the span is not traced.
fn place(span: &Span) -> Option<String> {
    let context = context_of(span)?;
    let (trace, span) = (context.trace_id(), context.span_id());
    let flags = context.trace_flags().to_u8();
    Some(format!("00-{trace}-{span}-{flags:02x}"))
}

/// Makes a new span a child of the span at this position, and links it with the current span if that is traced. Does
/// nothing if the position cannot be read.
fn set_parent(span: &Span, place: &str) {
    let Some(before) = read(place) else {
        return;
    };
    let around = context_of(&Span::current());
    let before = Context::new().with_remote_span_context(before);
    // If the span is not traced, it has no parent to be set.
    let _ = span.set_parent(before);
    if let Some(around) = around {
        span.add_link(around);
    }
}

fn read(place: &str) -> Option<SpanContext> {
    let mut parts = place.split('-').skip(1);
    let trace = TraceId::from_hex(parts.next()?).ok()?;
    let span = SpanId::from_hex(parts.next()?).ok()?;
    let flags = u8::from_str_radix(parts.next()?, 16).ok()?;
    let flags = TraceFlags::new(flags);
    Some(SpanContext::new(
        trace,
        span,
        flags,
        true,
        TraceState::default(),
    ))
}
