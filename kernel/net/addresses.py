"""Which URLs and which addresses are public. Pure: nothing is resolved and nothing connected."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

IPAddress = IPv4Address | IPv6Address

_MAX_URL = 2_048
# What is not written exactly like this is refused: two parsers that read a URL differently would let one
# host be checked and another be asked. So: no user, no backslash, no blank, no fragment, nothing but ASCII.
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>/[a-z0-9._~!$&'()*+,;=:@/%-]*)?"
    r"(?P<query>\?[a-z0-9._~!$&'()*+,;=:@/?%-]*)?",
    re.IGNORECASE | re.ASCII,
)
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# A host whose last label looks like this is a number to some resolver: 127.1, 0x7f.1, 2130706433.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")

# Of the IANA registries of special-purpose addresses, all that no public host has; and Azure's own wire.
_REFUSED_V4 = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32"),
    )
)
# Public IPv6 is 2000::/3 without tunnels, documentation and benchmarks; all else is refused.
_PUBLIC_V6 = ip_network("2000::/3")
_REFUSED_V6 = tuple(
    ip_network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "3ffe::/16")
)
# What a network without IPv4 puts before an IPv4 address (RFC 6052): as public as that is.
_NAT64 = ip_network("64:ff9b::/96")


class AddressRefused(Exception):
    """Nothing was sent to it. `message` says what to do and does not quote the address."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Target:
    """Who a URL speaks of.

    Attributes:
        host: Lowercase; a name, or an address in its usual spelling without brackets.
        port: The scheme's own when the URL gives none.
        address: The host when it is an address.
        plain: There is nothing after the path.
    """

    host: str
    port: int
    address: IPAddress | None
    plain: bool


def target(url: str) -> Target:
    """Raises: AddressRefused for all that is not plainly an http or https URL of one host."""
    match = _URL.fullmatch(url) if len(url) <= _MAX_URL else None
    if match is None:
        raise AddressRefused(
            "must be a plain http:// or https:// URL in ASCII, without user, fragment or backslash"
        )
    port = int(match["port"] or (443 if match["scheme"].lower() == "https" else 80))
    if port > 65_535:
        raise AddressRefused("has a port above 65535")
    address = _address(match["host"].lower())
    host = str(address) if address is not None else match["host"].lower()
    return Target(host, port, address, match["query"] is None)


def is_public(address: IPAddress) -> bool:
    """Whether it is somebody's on the internet: not this host, this network, or nobody."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_V4)
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _PUBLIC_V6 and not any(address in network for network in _REFUSED_V6)


def _address(host: str) -> IPAddress | None:
    """Raises: AddressRefused for an address in an odd spelling, and for what is no name."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        labels = host.split(".")
        if not all(map(_LABEL.fullmatch, labels)) or _NUMERIC.fullmatch(labels[-1]):
            raise AddressRefused("must name a host, or an address in its usual spelling") from None
        return None
