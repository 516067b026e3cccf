"""How far a request to an MCP server came: told by the transports, asked when it failed."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Delivery:
    """Of one request, in the context of whoever sends it; the SDK hands contexts down to its transports.

    Attributes:
        sent: It was given to the network or to the server's input: it may have acted. Taken back when the
            server cannot have taken it (nobody listens there, or its session is unknown).
        too_large: The answer was longer than a message may be.
        trouble: Why it was not answered as it should be, fit to be shown.
        over: Nobody waits for the answer any longer.
    """

    sent: bool = False
    too_large: bool = False
    trouble: str = ""
    over: bool = False


delivery: ContextVar[Delivery | None] = ContextVar("mcp_delivery", default=None)

# The JSON-RPC error that stands for an answer which was too long to be read.
TOO_LARGE = -32_413
