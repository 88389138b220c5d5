//! The `Host` fields that requests to `guard serve` may have.

use std::net::{IpAddr, SocketAddr};

/// The hosts that a request may address. A web page whose own name resolves to this machine is recognised by that name.
pub(super) struct Hosts {
    names: Vec<String>,
    listening: IpAddr,
}

impl Hosts {
    /// Returns the hosts of a server that listens at an address, given as `HOST:PORT`, with further names.
    pub(super) fn new(address: SocketAddr, listen: &str, names: &[String]) -> Hosts {
        let listen = listen.rsplit_once(':').map_or("", |(host, _)| host);
        let names = names.iter().map(String::as_str).chain([listen]);
        Hosts {
            names: names.map(str::to_ascii_lowercase).collect(),
            listening: address.ip(),
        }
    }

    /// Returns whether a `Host` field names this server; its port does not matter.
    pub(super) fn name(&self, host: &str) -> bool {
        let host = match host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => host,
        };
        let host = host.to_ascii_lowercase();
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        match literal.parse::<IpAddr>() {
            Ok(ip) => ip == self.listening || ip.is_loopback() || self.listening.is_unspecified(),
            Err(_) => host == "localhost" || (!host.is_empty() && self.names.contains(&host)),
        }
    }
}
