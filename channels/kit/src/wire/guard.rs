//! The network rules, pure: which addresses and ports may be reached, and the rule that refuses.
//!
//! Every check takes an address that a name was resolved to, never the name. Addresses that carry
//! an IPv4 address inside (mapped, compatible, 6to4, Teredo, NAT64) are judged by it.
use contract::WireError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A rule that refused a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// 127.0.0.0/8, `::1`.
    Loopback,
    /// 10/8, 172.16/12, 192.168/16, `fc00::/7`, `fec0::/10`.
    Private,
    /// 100.64.0.0/10.
    CarrierGradeNat,
    /// 169.254/16, `fe80::/10`.
    LinkLocal,
    /// 0.0.0.0/8, `::`.
    Unspecified,
    /// 224/4, `ff00::/8`.
    Multicast,
    /// 255.255.255.255.
    Broadcast,
    /// Documentation, benchmarking, protocol assignments, 240/4, discard.
    Reserved,
    /// A port that is neither 443 nor 80 nor listed.
    Port,
    /// The gateway's own listener.
    OwnListener,
    /// `http` where only `https` is allowed.
    Scheme,
    /// A host that is no address of the account.
    ForeignHost,
    /// The network was narrowed, as a sandbox or a test narrows it.
    Narrowed,
}

impl Rule {
    /// The rule as faults name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback address",
            Self::Private => "private address",
            Self::CarrierGradeNat => "shared address space",
            Self::LinkLocal => "link-local address",
            Self::Unspecified => "unspecified address",
            Self::Multicast => "multicast address",
            Self::Broadcast => "broadcast address",
            Self::Reserved => "reserved address",
            Self::Port => "port other than 443 and 80",
            Self::OwnListener => "the gateway's own listener",
            Self::Scheme => "scheme other than https",
            Self::ForeignHost => "a host that is no address of this account",
            Self::Narrowed => "this network reaches loopback only",
        }
    }

    /// The configuration key that governs it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Port => "http.allow_ports",
            Self::ForeignHost => "base_url",
            Self::OwnListener => "listen",
            _ => "http.allow_hosts",
        }
    }
}

impl From<Rule> for WireError {
    fn from(rule: Rule) -> Self {
        Self::Blocked { rule: rule.name(), key: rule.key() }
    }
}

/// Which addresses are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Public addresses: every url a caller names, and vendors by default.
    Public,
    /// Loopback alone: a vendor's `base_url` whose host is loopback.
    Loopback,
    /// Any: a `host:port` the operator listed.
    Any,
}

/// Judges one resolved address.
///
/// # Errors
/// The rule that refuses it.
pub fn judge(address: SocketAddr, admit: Admit, listeners: &[SocketAddr]) -> Result<(), Rule> {
    match admit {
        Admit::Any => Ok(()),
        Admit::Loopback => match refusal(address.ip()) {
            Some(Rule::Loopback) => Ok(()),
            Some(rule) => Err(rule),
            None => Err(Rule::Narrowed),
        },
        Admit::Public => match refusal(address.ip()) {
            Some(rule) => Err(rule),
            None if listeners.iter().any(|own| is_same(*own, address)) => Err(Rule::OwnListener),
            None => Ok(()),
        },
    }
}

fn is_same(own: SocketAddr, target: SocketAddr) -> bool {
    own.port() == target.port() && canonical(own.ip()) == canonical(target.ip())
}

/// Judges a port of a caller's url.
///
/// # Errors
/// [`Rule::Port`].
pub fn judge_port(port: u16, allowed: &[u16]) -> Result<(), Rule> {
    if matches!(port, 443 | 80) || allowed.contains(&port) { Ok(()) } else { Err(Rule::Port) }
}

/// The rule that refuses an address to everyone but an operator's listed hosts; `None`: public.
#[must_use]
pub fn refusal(ip: IpAddr) -> Option<Rule> {
    match ip {
        IpAddr::V4(v4) => refusal_v4(v4),
        IpAddr::V6(v6) => refusal_v6(v6),
    }
}

fn refusal_v4(ip: Ipv4Addr) -> Option<Rule> {
    match ip.octets() {
        [0, ..] => Some(Rule::Unspecified),
        [127, ..] => Some(Rule::Loopback),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(Rule::Private),
        [100, 64..=127, ..] => Some(Rule::CarrierGradeNat),
        [169, 254, ..] => Some(Rule::LinkLocal),
        [192, 0, 0 | 2, _] | [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Some(Rule::Reserved)
        }
        [224..=239, ..] => Some(Rule::Multicast),
        [255, 255, 255, 255] => Some(Rule::Broadcast),
        [240..=255, ..] => Some(Rule::Reserved),
        _ => None,
    }
}

fn refusal_v6(ip: Ipv6Addr) -> Option<Rule> {
    if ip.is_loopback() {
        return Some(Rule::Loopback);
    }
    if ip.is_unspecified() {
        return Some(Rule::Unspecified);
    }
    let inner = inner_v4(ip);
    if let Some(rule) = inner.iter().find_map(|v4| refusal_v4(*v4)) {
        return Some(rule);
    }
    match ip.segments() {
        [0xff00..=0xffff, ..] => Some(Rule::Multicast),
        [0xfe80..=0xfebf, ..] => Some(Rule::LinkLocal),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some(Rule::Private),
        // Documentation, discard-only, and the NAT64 prefix for use inside one network.
        [0x2001, 0x0db8, ..] | [0x100, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..] => Some(Rule::Reserved),
        // Everything global lies in 2000::/3; an inner IPv4 address was judged above.
        [0x2000..=0x3fff, ..] => None,
        _ if !inner.is_empty() => None,
        _ => Some(Rule::Reserved),
    }
}

/// The IPv4 addresses that an IPv6 address carries: a Teredo address has a server and a client.
fn inner_v4(ip: Ipv6Addr) -> Vec<Ipv4Addr> {
    let pair = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            vec![pair(high, low)]
        }
        // IPv4-translated, of stateless translators.
        [0, 0, 0, 0, 0xffff, 0, high, low] => vec![pair(high, low)],
        [0x2002, high, low, ..] => vec![pair(high, low)],
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            vec![pair(server_high, server_low), pair(!high, !low)]
        }
        _ => Vec::new(),
    }
}

fn canonical(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_66_every_listed_range_is_refused_at_both_ends_and_not_beyond() {
        use Rule as R;
        for (first, last, rule, outside) in [
            ("0.0.0.0", "0.255.255.255", R::Unspecified, "1.0.0.0"),
            ("10.0.0.0", "10.255.255.255", R::Private, "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", R::CarrierGradeNat, "100.128.0.0"),
            ("127.0.0.0", "127.255.255.255", R::Loopback, "128.0.0.0"),
            ("169.254.0.0", "169.254.255.255", R::LinkLocal, "169.255.0.0"),
            ("172.16.0.0", "172.31.255.255", R::Private, "172.32.0.0"),
            ("192.0.0.0", "192.0.0.255", R::Reserved, "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", R::Reserved, "192.0.3.0"),
            ("192.168.0.0", "192.168.255.255", R::Private, "192.169.0.0"),
            ("198.18.0.0", "198.19.255.255", R::Reserved, "198.20.0.0"),
            ("198.51.100.0", "198.51.100.255", R::Reserved, "198.51.101.0"),
            ("203.0.113.0", "203.0.113.255", R::Reserved, "203.0.114.0"),
            ("224.0.0.0", "239.255.255.255", R::Multicast, "223.255.255.255"),
            ("240.0.0.0", "255.255.255.254", R::Reserved, "223.255.255.255"),
            ("255.255.255.255", "255.255.255.255", R::Broadcast, "223.255.255.255"),
            ("::", "::", R::Unspecified, "2000::"),
            ("::1", "::1", R::Loopback, "2000::"),
            ("fe80::", "febf:ffff::", R::LinkLocal, "2000::"),
            ("fc00::", "fdff:ffff::", R::Private, "2000::"),
            ("fec0::", "feff::", R::Private, "2000::"),
            ("ff00::", "ffff::", R::Multicast, "2000::"),
            ("2001:db8::", "2001:db8:ffff::", R::Reserved, "2001:db9::"),
            ("100::", "100::ffff", R::Reserved, "2000::"),
            ("64:ff9b:1::", "64:ff9b:1:ffff::", R::Reserved, "64:ff9b::808:808"),
            ("4000::", "fbff::", R::Reserved, "3fff:ffff::"),
        ] {
            for inside in [first, last] {
                assert_eq!(refusal(inside.parse().unwrap()), Some(rule), "{inside}");
            }
            assert_eq!(refusal(outside.parse().unwrap()), None, "{outside}");
        }
    }

    #[test]
    fn i_66_wrapped_addresses_are_judged_by_the_inner_one() {
        for (wrapped, rule) in [
            ("::ffff:127.0.0.1", Some(Rule::Loopback)),
            ("::ffff:10.0.0.1", Some(Rule::Private)),
            ("::ffff:8.8.8.8", None),
            ("::127.0.0.1", Some(Rule::Loopback)),
            ("::8.8.8.8", None),
            ("2002:7f00:1::", Some(Rule::Loopback)),
            ("2002:a9fe:a9fe::1", Some(Rule::LinkLocal)),
            ("2002:808:808::", None),
            ("64:ff9b::7f00:1", Some(Rule::Loopback)),
            ("64:ff9b::808:808", None),
            ("::ffff:0:10.0.0.1", Some(Rule::Private)),
            // Teredo: a private server, then a private client (its bits are inverted).
            ("2001:0:c0a8:101:0:0:f7f7:f7f7", Some(Rule::Private)),
            ("2001:0:808:808:0:0:80ff:fffe", Some(Rule::Loopback)),
            ("2001:0:808:808:0:0:f7f7:f7f7", None),
        ] {
            assert_eq!(refusal(wrapped.parse().unwrap()), rule, "{wrapped}");
        }
    }

    #[test]
    fn i_67_ports_other_than_443_and_80_need_the_list() {
        for (port, allowed, fine) in
            [(443, &[][..], true), (80, &[], true), (8443, &[], false), (8443, &[8443], true)]
        {
            assert_eq!(judge_port(port, allowed).is_ok(), fine, "{port}");
        }
    }

    #[test]
    fn i_68_what_is_admitted_depends_on_whose_word_it_is() {
        let public: SocketAddr = "8.8.8.8:443".parse().unwrap();
        let mapped: SocketAddr = "[::ffff:8.8.8.8]:443".parse().unwrap();
        let loopback: SocketAddr = "127.0.0.1:443".parse().unwrap();
        let private: SocketAddr = "10.0.0.1:443".parse().unwrap();
        for (address, admit, found) in [
            (public, Admit::Public, Ok(())),
            (loopback, Admit::Public, Err(Rule::Loopback)),
            (loopback, Admit::Loopback, Ok(())),
            (public, Admit::Loopback, Err(Rule::Narrowed)),
            (private, Admit::Loopback, Err(Rule::Private)),
            (private, Admit::Any, Ok(())),
        ] {
            assert_eq!(judge(address, admit, &[]), found, "{address} {admit:?}");
        }
        assert_eq!(judge(mapped, Admit::Public, &[public]), Err(Rule::OwnListener));
        assert_eq!(judge(public, Admit::Public, &["8.8.8.8:80".parse().unwrap()]), Ok(()));
    }
}
