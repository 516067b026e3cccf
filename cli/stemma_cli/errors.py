"""Failures as whoever typed the command is told them."""

import grpc
from google.rpc import status_pb2
from stemma_client.errors import StemmaError, error_of

# What to do about it from a command line, beside what the service says.
_ADVICE = {grpc.StatusCode.UNAUTHENTICATED: " Set STEMMA_API_KEY; make one: stemma keys create."}
# What a connection that breaks in the middle of a call ends it with, besides UNAVAILABLE.
_CUT = {grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}


class CliError(Exception):
    """Ends the command with `exit_code`. `message` is one line: what is wrong, and what to do."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(CliError):
    """The command was typed wrongly."""

    exit_code = 2


class Interrupted(CliError):
    """Ctrl-C ended a script."""

    exit_code = 130


class ApiError(CliError):
    """The service refused a call, or could not be reached.

    Attributes:
        code: The canonical code.
        reason: ErrorInfo's; empty when what answered was not Stemma, or nothing answered.
        metadata: ErrorInfo's.
        status: As the service sent it; made up from the code when nothing answered.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        metadata: dict[str, str],
        status: status_pb2.Status,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.metadata = metadata
        self.status = status

    @property
    def reached(self) -> bool:
        """Whether a Stemma service said this; otherwise the connection did."""
        return bool(self.reason)

    @property
    def passing(self) -> bool:
        """Whether the connection, or a server that stops, is to blame: the same request may get through."""
        return self.code is grpc.StatusCode.UNAVAILABLE or (not self.reached and self.code in _CUT)


def api_error(error: grpc.RpcError, address: str) -> ApiError:
    """Reads what the call said: the status with its details, or that nobody answered at `address`."""
    said = error_of(error, address)
    return ApiError(said.code, said.reason, _sentence(said), said.metadata, said.status)


def _sentence(said: StemmaError) -> str:
    code, address = said.code, said.address
    if said.reason:
        named = "; ".join(f"{field}: {description}" for field, description in said.violations)
        return f"{named or said.message}{_ADVICE.get(code, '')} ({said.reason})"
    if code is grpc.StatusCode.UNAVAILABLE:
        return (
            f"No conversation service answers at {address}. Start it with `stemma up`, or say where it is: "
            "--address HOST:PORT, or STEMMA_CONVERSATION."
        )
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"{address} did not answer in time. Try again."
    return f"What answers at {address} is no conversation service ({code.name}): is it the gRPC address?"
