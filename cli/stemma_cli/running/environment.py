"""What the services are started with: the caller's settings, and what `stemma up` decides."""

import errno
import ipaddress
import socket
from collections.abc import Mapping

from stemma_cli.errors import CliError
from stemma_cli.options import DEFAULT_ADDRESS, DEFAULT_DRAFT

DEFAULT_HTTP = "127.0.0.1:8080"


def wanted(settings: Mapping[str, str]) -> dict[str, str]:
    """Where each service is to listen, by the variable that says so."""
    return {
        "STEMMA_CONVERSATION": settings.get("STEMMA_CONVERSATION") or DEFAULT_ADDRESS,
        "STEMMA_DRAFT": settings.get("STEMMA_DRAFT") or DEFAULT_DRAFT,
        "STEMMA_HTTP": settings.get("STEMMA_HTTP") or DEFAULT_HTTP,
    }


def for_services(settings: Mapping[str, str], *, provider: str, verbose: bool) -> dict[str, str]:
    """The services' environment. What is set stays; what is not becomes what a person at a terminal wants."""
    environment = {**settings, "STEMMA_PROVIDER": provider}
    environment.setdefault("STEMMA_LOG_LEVEL", "INFO" if verbose else "WARNING")
    environment.setdefault("STEMMA_LOG_FORMAT", "console")
    # Otherwise the library tells of itself whenever a process is started.
    environment.setdefault("GRPC_VERBOSITY", "ERROR")
    if access_on(settings):
        from stemma_cli.running.access import for_access

        return for_access(environment)
    # The default, said aloud: `stemma up` tells it, and the services need not.
    environment["STEMMA_AUTH"] = "off"
    return environment


def access_on(settings: Mapping[str, str]) -> bool:
    """Whether calls need a credential: as STEMMA_AUTH says; without it, when others than this machine reach
    any of the services. On for one is on for all: behind a gateway that asks, none must let everybody in."""
    loopback = all(map(is_loopback, wanted(settings).values()))
    return (settings.get("STEMMA_AUTH") or ("off" if loopback else "on")) != "off"


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address of the form HOST:PORT."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_busy(settings: Mapping[str, str]) -> None:
    """Raises CliError when something listens where a service is to: before anything is started."""
    for variable, address in wanted(settings).items():
        host, _, port = address.rpartition(":")
        if port.isdigit() and _in_use(host.strip("[]"), int(port)):
            raise CliError(
                f"Port {port} is in use, perhaps by another `stemma up`. Stop that, or choose another "
                f"address: {variable}={host}:0 picks a free port."
            )


def _in_use(host: str, port: int) -> bool:
    """Only that: whatever else is wrong with an address, the service says better."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
        except OverflowError:
            return False
    return False
