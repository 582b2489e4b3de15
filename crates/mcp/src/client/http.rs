//! Servers that are reached by streamable HTTP.

use super::{McpError, description::Url, wording};
use http::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

/// Returns the settings of an HTTP transport to this server.
///
/// # Errors
/// When a header cannot be sent. The error does not show its value.
pub(super) fn config(
    server: &str,
    url: &Url,
    max_message_bytes: usize,
) -> Result<StreamableHttpClientTransportConfig, McpError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.url.as_str());
    for (name, value) in &url.headers {
        let unfit = || wording::header_unfit(server, name);
        let key = HeaderName::try_from(name).map_err(|_| unfit())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| unfit())?;
        value.set_sensitive(true);
        config.custom_headers.insert(key, value);
    }
    config.max_json_response_size = max_message_bytes;
    config.max_sse_event_size = max_message_bytes;
    Ok(config)
}
