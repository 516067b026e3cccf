"""A request's body as a JSON object, refusing what json.loads and json_format let through or break on."""

from gateway.errors import malformed
from kernel.strict_json import NotJson, loads


def parse_object(body: bytes) -> dict[str, object]:
    """A JSON object as its author meant it, by the rules of `kernel.strict_json`. An empty body is an
    empty object. Texts are checked where their field is known. Refuses with 400."""
    if not body:
        return {}
    try:
        value = loads(body, texts=False)
    except NotJson as error:
        raise malformed(f"The body {error}.") from None
    if not isinstance(value, dict):
        raise malformed("The body must be a JSON object.")
    return value
