//! Checks of every request: its origin and its sender. The headers of every answer.

use crate::{
    failure::{Failure, is_of_api},
    pages,
    room::{Room, Visitor, is_same},
    wording,
};
use axum::{
    extract::{OriginalUri, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};

/// Header `Content-Security-Policy` of all pages: scripts, styles, forms and connections of this server alone, and no
/// frames.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Lets a request through if somebody who is signed in sends it and, if it changes something, if it does not come from
/// another site; refuses it otherwise.
pub(crate) async fn guard(State(room): State<Room>, request: Request, next: Next) -> Response {
    let is_json = is_of_api(request.uri().path());
    let refused = |failure: Failure| match is_json {
        true => failure.json(),
        false => (failure.status, pages::bare(&failure)).into_response(),
    };
    if changes(request.method()) && is_from_elsewhere(request.headers()) {
        let failure = Failure::new(StatusCode::FORBIDDEN, "other_site", wording::OTHER_SITE);
        return with_headers(refused(failure));
    }
    let base = base_of(&request);
    let (parts, body) = request.into_parts();
    let mut visitor = match room.authenticator.principal(&parts).await {
        Ok(Some(principal)) => room.visitor(principal, base),
        Ok(None) => {
            let sign_in = room.authenticator.sign_in().filter(|_| !is_json);
            return with_headers(match sign_in {
                Some(address) => Redirect::to(&address).into_response(),
                None => {
                    let status = StatusCode::UNAUTHORIZED;
                    refused(Failure::new(status, "nobody", wording::NOBODY))
                }
            });
        }
        Err(error) => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let message = wording::not_known_now(error);
            return with_headers(refused(Failure::new(status, "unavailable", message)));
        }
    };
    if !is_json {
        // Before anything of the page is read: what happens from now on is news for it.
        visitor.at = room.live.newest().await.ok();
        visitor.pending = room.pending(&visitor.principal).await;
    }
    let mut request = Request::from_parts(parts, body);
    request.extensions_mut().insert(visitor);
    with_headers(next.run(request).await)
}

/// Checks the secret token that each form of the visitor has. Another site does not know it.
pub(crate) fn check_token(given: &str, visitor: Option<&Visitor>) -> Result<(), Failure> {
    match visitor {
        Some(visitor) if is_same(given, &visitor.token) => Ok(()),
        _ => {
            let status = StatusCode::FORBIDDEN;
            Err(Failure::new(status, "no_token", wording::NO_TOKEN))
        }
    }
}

fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Returns `true` if a browser says that another site sends the request. Programs that are no browsers say nothing.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let of = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let is_cross_site = !matches!(of("sec-fetch-site"), None | Some(b"same-origin" | b"none"));
    let is_other_origin = match (of("origin"), of("host")) {
        (None, _) => false,
        (Some(origin), Some(host)) => {
            let own = [&b"http://"[..], b"https://"];
            !own.iter()
                .any(|scheme| origin.strip_prefix(*scheme) == Some(host))
        }
        (Some(_), None) => true,
    };
    is_cross_site || is_other_origin
}

/// Returns the path under which an application has nested the control room.
fn base_of(request: &Request) -> String {
    let original = request.extensions().get::<OriginalUri>();
    let original = original.map_or("", |OriginalUri(uri)| uri.path());
    let own = request.uri().path();
    let base = original.strip_suffix(own);
    // The page of a router that is nested under `/agents` has the path `/`, and may be asked for without it.
    base.unwrap_or(original).trim_end_matches('/').to_owned()
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers send the origin `null` with the forms of this very page.
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            let name = header::HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_request_of_another_site_is_known_by_what_the_browser_says() {
        for (pairs, is_other) in [
            (&[("host", "a:1")][..], false),
            (&[("host", "a:1"), ("origin", "http://a:1")], false),
            (&[("host", "a:1"), ("origin", "https://a:1")], false),
            (&[("host", "a:1"), ("origin", "http://a:2")], true),
            (&[("host", "a:1"), ("origin", "null")], true),
            (&[("origin", "http://a:1")], true),
            (&[("host", "a:1"), ("sec-fetch-site", "same-origin")], false),
            (&[("host", "a:1"), ("sec-fetch-site", "none")], false),
            (&[("host", "a:1"), ("sec-fetch-site", "same-site")], true),
            (&[("host", "a:1"), ("sec-fetch-site", "cross-site")], true),
        ] {
            assert_eq!(is_from_elsewhere(&headers(pairs)), is_other, "{pairs:?}");
        }
    }
}
