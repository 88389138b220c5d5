//! An HTTP endpoint as a language model: OpenAI-compatible chat completions, or Anthropic's messages.

use std::time::Duration;

use guard_english::language_model::{ANSWER_BYTES, Question};
use serde_json::{Value, json};
#[cfg(feature = "https")]
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use url::{Host, Url};

/// The greatest number of bytes of a response: the answer is escaped and surrounded by other data.
const RESPONSE_BYTES: u64 = 4 * ANSWER_BYTES as u64;
/// The greatest number of tokens of an answer, which Anthropic's interface requires.
const ANSWER_TOKENS: u32 = 4_000;
/// The greatest number of characters of a server error that a message repeats.
const ERROR_CHARS: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    OpenAi,
    Anthropic,
}

/// A model at an endpoint.
pub(super) struct Endpoint {
    url: Url,
    dialect: Dialect,
    model: String,
    /// The key, which is never printed or logged.
    key: Option<String>,
    /// The certificate authorities whose servers are trusted.
    #[cfg(feature = "https")]
    roots: RootCerts,
}

/// The variable that names a file of certificate authorities, as for OpenSSL, curl and Python.
const ROOTS: &str = "SSL_CERT_FILE";

/// Reads a file of certificates in PEM.
#[cfg(feature = "https")]
fn roots(path: &str) -> Result<RootCerts, String> {
    let fault = |error: &dyn std::fmt::Display| format!("`{ROOTS}`: `{path}`: {error}");
    let text = std::fs::read(path).map_err(|error| fault(&error))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| fault(&error))? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(fault(&"expected certificates in PEM, found none"));
    }
    Ok(RootCerts::new_with_certs(&found))
}

impl Endpoint {
    /// Reads an address. Without a path to an interface, the usual one is added. The key comes from `GUARD_MODEL_KEY`, or, for
    /// the hosts of the two companies, from their own variables, which are never sent to other hosts. Servers are trusted by
    /// the authorities of Mozilla, or those of the file that `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// The address is not one of HTTP, or of HTTPS in a build without it; it has a password or a query; the key would be sent
    /// over the network without encryption; or the file of authorities cannot be read.
    pub(super) fn new(address: &str, model: &str) -> Result<Endpoint, String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let endpoint = Endpoint::with_keys(address, model, &variable)?;
        if endpoint.url.scheme() == "https" && !cfg!(feature = "https") {
            return Err(
                "`--model`: this `guard` was built without HTTPS; build it with `--features https`, ask an address of HTTP, or give a \
                 command to `--with`"
                    .to_owned(),
            );
        }
        Ok(endpoint)
    }

    fn with_keys(
        address: &str,
        model: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Endpoint, String> {
        let mut url = Url::parse(address).map_err(|error| {
            format!("`--model`: {error}: expected an address such as `http://localhost:11434/v1`")
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err("`--model`: expected an address of HTTP or HTTPS".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err("`--model`: expected an address without password and query; a key comes from the variable `GUARD_MODEL_KEY`".to_owned());
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let path = url.path().trim_end_matches('/').to_owned();
        let dialect = if path.ends_with("/messages") || host == "api.anthropic.com" {
            Dialect::Anthropic
        } else {
            Dialect::OpenAi
        };
        let path = match dialect {
            _ if path.ends_with("/messages") || path.ends_with("/chat/completions") => path,
            Dialect::Anthropic => format!("{}/v1/messages", path.trim_end_matches("/v1")),
            Dialect::OpenAi if path.is_empty() => "/v1/chat/completions".to_owned(),
            Dialect::OpenAi => format!("{path}/chat/completions"),
        };
        url.set_path(&path);
        url.set_fragment(None);
        let own = match host.as_str() {
            "api.openai.com" => variable("OPENAI_API_KEY"),
            "api.anthropic.com" => variable("ANTHROPIC_API_KEY"),
            _ => None,
        };
        let key = variable("GUARD_MODEL_KEY").or(own);
        let secure = url.scheme() == "https";
        let local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if key.is_some() && !secure && !local {
            return Err(format!(
                "`--model`: the key would be sent to {host} without encryption; use `https`"
            ));
        }
        Ok(Endpoint {
            url,
            dialect,
            model: model.to_owned(),
            key,
            #[cfg(feature = "https")]
            roots: match variable(ROOTS).filter(|_| secure) {
                Some(path) => roots(&path)?,
                None => RootCerts::WebPki,
            },
        })
    }

    /// Returns the name of the model in the log.
    pub(super) fn name(&self) -> String {
        format!("{} at {}", self.model, self.url)
    }

    /// Sends a question and returns the text of the answer.
    ///
    /// # Errors
    /// The endpoint cannot be reached, exceeds the time limit, returns an error, or returns an invalid response.
    pub(super) fn answer(
        &self,
        question: &Question<'_>,
        patience: Duration,
    ) -> Result<String, String> {
        let said = self.send(question, patience);
        // A server may repeat the key in its error message.
        said.map_err(|error| match &self.key {
            Some(key) => error.replace(key.as_str(), "[key]"),
            None => error,
        })
    }

    fn send(&self, question: &Question<'_>, patience: Duration) -> Result<String, String> {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(patience))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent("guard");
        #[cfg(feature = "https")]
        let config = config.tls_config(TlsConfig::builder().root_certs(self.roots.clone()).build());
        let mut request = ureq::Agent::from(config.build())
            .post(self.url.as_str())
            .header("content-type", "application/json");
        if self.dialect == Dialect::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = &self.key {
            request = match self.dialect {
                Dialect::Anthropic => request.header("x-api-key", key),
                Dialect::OpenAi => request.header("authorization", format!("Bearer {key}")),
            };
        }
        let mut response = request
            .send(self.body(question).to_string())
            .map_err(|error| match error {
                ureq::Error::Timeout(_) => {
                    format!("no answer within {} seconds", patience.as_secs())
                }
                error => refused(&error),
            })?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(RESPONSE_BYTES)
            .read_to_string()
            .map_err(|error| match error {
                ureq::Error::Timeout(_) => {
                    format!("no answer within {} seconds", patience.as_secs())
                }
                ureq::Error::BodyExceedsLimit(_) => {
                    format!("the response is longer than {RESPONSE_BYTES} bytes")
                }
                error => format!("the response cannot be read: {error}"),
            })?;
        let shown = || -> String {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ").chars().take(ERROR_CHARS).collect()
        };
        if status != 200 {
            return Err(format!(
                "the endpoint answered with status {status}: {}",
                shown()
            ));
        }
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| format!("the response is not JSON: {error}: {}", shown()))?;
        self.text(&value)
            .ok_or_else(|| format!("the response has no text: {}", shown()))
    }

    fn body(&self, question: &Question<'_>) -> Value {
        match self.dialect {
            Dialect::OpenAi => json!({
                "model": self.model,
                "messages": [
                    {"role": "system", "content": question.instructions},
                    {"role": "user", "content": question.text},
                ],
            }),
            // The instructions are the same for every question, so the server may cache them.
            Dialect::Anthropic => json!({
                "model": self.model,
                "max_tokens": ANSWER_TOKENS,
                "system": [{
                    "type": "text",
                    "text": question.instructions,
                    "cache_control": {"type": "ephemeral"},
                }],
                "messages": [{"role": "user", "content": question.text}],
            }),
        }
    }

    /// Returns the text of a response.
    fn text(&self, response: &Value) -> Option<String> {
        match self.dialect {
            Dialect::OpenAi => {
                let content = &response["choices"][0]["message"]["content"];
                content.as_str().map(str::to_owned)
            }
            Dialect::Anthropic => {
                let blocks = response["content"].as_array()?;
                let texts: Vec<&str> = blocks
                    .iter()
                    .filter(|block| block["type"] == "text")
                    .filter_map(|block| block["text"].as_str())
                    .collect();
                (!texts.is_empty()).then(|| texts.concat())
            }
        }
    }
}

/// Returns the message for a request that was not answered.
fn refused(error: &ureq::Error) -> String {
    let text = error.to_string();
    // The error of a failed TLS handshake arrives here as an input or output error.
    match text.split_once("certificate: ") {
        Some((_, reason)) => format!(
            "the certificate of the endpoint is not trusted: {reason}: if an authority of your own signed it, name the file of that \
             authority in `{ROOTS}`"
        ),
        None => format!("the endpoint cannot be asked: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    fn endpoint(address: &str, keys: &[(&str, &str)]) -> Result<Endpoint, String> {
        Endpoint::with_keys(address, "m", &|name| {
            let found = keys.iter().find(|(known, _)| *known == name);
            found.map(|(_, key)| (*key).to_owned())
        })
    }

    #[test]
    fn addresses_are_completed() {
        for (address, whole) in [
            (
                "http://localhost:11434",
                "http://localhost:11434/v1/chat/completions",
            ),
            (
                "http://localhost:11434/v1/",
                "http://localhost:11434/v1/chat/completions",
            ),
            (
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "https://api.anthropic.com/v1",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "https://proxy.example/a/v1/messages",
                "https://proxy.example/a/v1/messages",
            ),
            (
                "https://proxy.example/x/chat/completions",
                "https://proxy.example/x/chat/completions",
            ),
        ] {
            assert_eq!(endpoint(address, &[]).unwrap().url.as_str(), whole);
        }
        for address in [
            "",
            "localhost",
            "file:///etc/passwd",
            "https://u:p@a.example",
            "https://a.example?key=x",
        ] {
            assert!(endpoint(address, &[]).is_err(), "{address}");
        }
    }

    #[test]
    fn keys_go_to_their_hosts_only() {
        let keys = [("OPENAI_API_KEY", "o"), ("ANTHROPIC_API_KEY", "a")];
        let key = |address: &str| endpoint(address, &keys).unwrap().key;
        assert_eq!(key("https://api.openai.com").as_deref(), Some("o"));
        assert_eq!(key("https://api.anthropic.com").as_deref(), Some("a"));
        assert_eq!(key("https://api.openai.com.example"), None);
        assert_eq!(key("http://localhost:1"), None);
        let own = [("GUARD_MODEL_KEY", "g")];
        assert_eq!(
            endpoint("http://127.0.0.1:1", &own).unwrap().key.as_deref(),
            Some("g")
        );
        assert!(endpoint("http://a.example", &own).is_err());
        assert!(endpoint("http://a.example", &[]).is_ok());
    }
}
