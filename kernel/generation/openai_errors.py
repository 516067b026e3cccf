"""From the client library's errors to ours. Imports openai: import this module lazily."""

import openai

from kernel.generation.provider import ProviderError, not_valid, timed_out, unavailable


def translate(error: Exception, refusal_hint: str) -> ProviderError | None:
    """What `error` means; None for what no provider can cause, which is a fault of ours.

    No text of the error is used: it quotes the provider, its address or the model's file.
    """
    match error:
        case ProviderError():
            return error
        case TimeoutError() | openai.APITimeoutError():
            return timed_out("The provider took too long.")
        case openai.APIStatusError():
            return _status(error.status_code, refusal_hint)
        case openai.APIConnectionError():
            return unavailable("The provider cannot be reached, or the connection broke.")
        case openai.APIResponseValidationError():
            return not_valid("The provider's answer is malformed.")
        case openai.APIError():
            return unavailable("The provider reported an error in the middle of its answer.")
        case ValueError() | TypeError() | AttributeError() | RecursionError():
            # Not UTF-8, not JSON, nested without end, or JSON of a shape that the client trips over.
            return not_valid("The provider's answer is malformed.")
    return None


def _status(status: int, refusal_hint: str) -> ProviderError:
    if status == 429 or status >= 500:
        return unavailable(f"The provider is overloaded or broken (HTTP {status}).")
    return not_valid(f"The provider refused the request (HTTP {status}). {refusal_hint}")
