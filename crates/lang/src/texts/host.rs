//! The host of an address.

use std::borrow::Cow;

use url::Url;

use super::Unclear;

/// Schemes of addresses without a host.
const HOSTLESS: [&str; 8] = [
    "about",
    "cid",
    "data",
    "javascript",
    "mailto",
    "mid",
    "tel",
    "urn",
];

/// Returns the host of an address: lower case, in the form of DNS (`xn--…`), without a final dot, user and port; an IPv4
/// address in any notation as four numbers. Without a scheme, `example.org/x` and `//example.org/x` have the host
/// `example.org`. Returns `None` if the address has no host: it is empty, begins with `/`, `?`, `#` or `.`, or has a scheme
/// without hosts (`mailto:`, `data:`).
///
/// The address is parsed both as browsers do (WHATWG) and by RFC 3986.
///
/// # Errors
/// If the two give different hosts, or if the host or port is not valid.
pub fn host(text: &str) -> Result<Option<String>, Unclear> {
    // Browsers remove these characters before parsing.
    let text = text.trim_matches(|c: char| c <= ' ');
    let text: Cow<'_, str> = if text.contains(['\t', '\n', '\r']) {
        text.replace(['\t', '\n', '\r'], "").into()
    } else {
        text.into()
    };
    let Some(rest) = after_scheme(&text) else {
        return Ok(None);
    };
    let (by_browsers, by_rfc) = (
        authority(rest, &['/', '\\', '?', '#']),
        authority(rest, &['/', '?', '#']),
    );
    let found = known(by_browsers)?;
    if by_browsers != by_rfc && known(by_rfc) != Ok(found.clone()) {
        return Err(Unclear::TwoHosts);
    }
    Ok(found)
}

/// Returns the text after the scheme and the slashes; `None` if there is no host.
fn after_scheme(text: &str) -> Option<&str> {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let scheme = text.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    if let Some((scheme, rest)) = scheme {
        let scheme = scheme.to_ascii_lowercase();
        match (scheme.as_str(), rest.strip_prefix(is_slash)) {
            (scheme, _) if HOSTLESS.contains(&scheme) => return None,
            // `https:example.org` and `https:///example.org` are equivalent to `https://example.org`.
            ("http" | "https" | "ws" | "wss" | "ftp", _) => {
                return Some(rest.trim_start_matches(is_slash));
            }
            (_, Some(rest)) => return rest.strip_prefix(is_slash),
            // A host with a port, or a user with a password.
            (_, None) => {}
        }
    }
    match text.strip_prefix(is_slash) {
        Some(rest) if rest.starts_with(is_slash) => Some(rest.trim_start_matches(is_slash)),
        Some(_) => None,
        None if text.is_empty() || text.starts_with(['?', '#', '.']) => None,
        None => Some(text),
    }
}

/// Returns the part before the path.
fn authority<'t>(rest: &'t str, ends: &[char]) -> &'t str {
    rest.split(ends).next().unwrap_or(rest)
}

/// Returns the host of an authority in canonical form.
fn known(authority: &str) -> Result<Option<String>, Unclear> {
    if authority.is_empty() {
        return Ok(None);
    }
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let url = Url::parse(&format!("https://{host}/")).map_err(|_| Unclear::NoAddress)?;
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    if host.is_empty() {
        return Err(Unclear::NoAddress);
    }
    Ok(Some(host.to_owned()))
}
