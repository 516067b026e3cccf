"""From the client library's errors to ours. Imports openai: import this module lazily."""

import openai

from kernel.clock import utc_now
from kernel.generation.provider import ProviderError, not_valid, timed_out, unavailable
from kernel.generation.retries import RETRYABLE_STATUS, Passing, retry_after
from kernel.net.addresses import AddressRefused


def translate(error: Exception, refusal_hint: str) -> ProviderError | None:
    """What `error` means; None for what no provider can cause, which is a fault of ours.

    No text of the error is used: it quotes the provider, its address or the model's file.
    """
    match error:
        case ProviderError():
            return error
        case AddressRefused():
            return not_valid(f"config.model.base_url {error.message}.")
        case openai.APITimeoutError():
            # The connection alone is timed by the client; all else is by us.
            return Passing(timed_out("The provider did not accept a connection in time."))
        case TimeoutError():
            return timed_out("The provider took too long.")
        case openai.APIStatusError():
            return _status(error, refusal_hint)
        case openai.APIConnectionError():
            return Passing(unavailable("The provider cannot be reached, or the connection broke."))
        case openai.APIResponseValidationError():
            return not_valid("The provider's answer is malformed.")
        case openai.APIError():
            return unavailable("The provider reported an error in the middle of its answer.")
        case ValueError() | TypeError() | AttributeError() | RecursionError():
            # Not UTF-8, not JSON, nested without end, or JSON of a shape that the client trips over.
            return not_valid("The provider's answer is malformed.")
    return None


def _status(error: openai.APIStatusError, refusal_hint: str) -> ProviderError:
    status = error.status_code
    if status != 429 and status < 500:
        return not_valid(f"The provider refused the request (HTTP {status}). {refusal_hint}")
    broken = unavailable(f"The provider is overloaded or broken (HTTP {status}).")
    if status not in RETRYABLE_STATUS:
        return broken
    return Passing(broken, retry_after(error.response.headers.get("retry-after"), utc_now()))
