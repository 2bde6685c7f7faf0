//! The address a request really comes from: proxies are believed only where they are configured.
use crate::config::listen::Network;
use actix_web::HttpRequest;
use std::net::{IpAddr, Ipv6Addr};

/// The client's address: the peer, or, when the peer is a trusted proxy, the rightmost address of
/// `X-Forwarded-For` that is not one.
#[must_use]
pub fn of(request: &HttpRequest, trusted: &[Network]) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip();
    let believed = |address: IpAddr| is_trusted(address, trusted);
    if !believed(peer) {
        return Some(peer);
    }
    let forwarded: Vec<IpAddr> = request
        .headers()
        .get_all("x-forwarded-for")
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|part| part.trim().parse().ok())
        .collect();
    forwarded.into_iter().rev().find(|address| !believed(*address)).or(Some(peer))
}

/// True for a proxy whose word on the client is believed.
#[must_use]
pub fn is_trusted(address: IpAddr, trusted: &[Network]) -> bool {
    trusted.iter().any(|network| network.holds(address))
}

/// What shares one bucket: a v4 address, or a v6 network of 64 bits.
#[must_use]
pub fn bucket(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) & (u128::MAX << 64))),
    }
}
