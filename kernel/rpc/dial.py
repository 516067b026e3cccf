"""Where a service is called: one address, or those of its replicas."""

import ipaddress

# Calls go to the replicas in turn, and past one that is away.
BALANCED = ("grpc.lb_policy_name", "round_robin")


def target(address: str) -> str:
    """What to give a channel for `host:port`, or for several `ip:port` with commas between.

    A name that stands for several addresses (a headless service) is all of them. Raises ValueError for
    several that are not all of one kind.
    """
    several = address.split(",")
    if len(several) == 1:
        return address
    kinds = {_version(one) for one in several}
    if len(kinds) > 1:
        raise ValueError("several addresses must all be IPv4, or all IPv6")
    return f"ipv{kinds.pop()}:{address}"


def _version(address: str) -> int:
    host = address.rpartition(":")[0]
    try:
        return ipaddress.ip_address(host.strip("[]")).version
    except ValueError:
        raise ValueError("several addresses must be IP addresses with ports; a name stands alone") from None
