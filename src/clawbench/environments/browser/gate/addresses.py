"""Which addresses a browser may be let out to: public ones, never this host or its networks."""

from __future__ import annotations

import ipaddress
import socket

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

NAT64 = ipaddress.ip_network("64:ff9b::/96")
IPV4_COMPATIBLE = ipaddress.ip_network("::/96")
NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "fec0::/10", "3fff::/20")
)
"""That some versions of Python take for public: protocol assignments, relays of 6to4, the host of Azure's
machines, site-local addresses, and those for documents."""


def is_public(address: IPAddress) -> bool:
    """True for an address of the public internet, also behind IPv6 forms that carry an IPv4 address."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = _carried(address)
        if carried:
            return all(map(is_public, carried))
        if address.scope_id:
            return False
    if any(address in network for network in NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _carried(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return list(address.teredo)
    if address in NAT64 or (address in IPV4_COMPATIBLE and int(address) > 1):
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return []


def is_own(address: IPAddress) -> bool:
    """True where this very host answers at `address`: the kernel would use it as its own source."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))  # a datagram socket sends nothing on connect
        except OSError:
            return False
        return ipaddress.ip_address(probe.getsockname()[0].partition("%")[0]) == address
