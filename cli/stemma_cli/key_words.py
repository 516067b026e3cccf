"""API keys, and what was done to them, as lines."""

from datetime import UTC, datetime

from rich.text import Text
from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import project_service_pb2

from stemma_cli.errors import CliError
from stemma_cli.output import Output
from stemma_cli.words import plural, printable


def show_created(out: Output, answer: pb.CreateApiKeyResponse) -> None:
    """The secret alone on standard output, so that it can be kept in a variable."""
    out.answer(answer)
    if not out.json:
        print(answer.secret, flush=True)
    out.aside(f"Key {answer.api_key.api_key_id}: {_described(answer.api_key)}. It is shown this once.")


def show_keys(out: Output, answer: pb.ListApiKeysResponse) -> None:
    out.answer(answer)
    if not answer.api_keys:
        out.note("There are no keys: `stemma keys create --direct` makes the first one.")
    for key in answer.api_keys:
        out.say(Text.assemble((key.api_key_id, "bold"), f"  {_described(key)}", (f"  {_state(key)}", "dim")))


def show_revoked(out: Output, answer: pb.RevokeApiKeyResponse) -> None:
    out.answer(answer)
    out.say(f"Key {answer.api_key.api_key_id} is revoked: {_described(answer.api_key)}.")


def show_resealed(out: Output, found: dict[str, dict[str, int]]) -> None:
    """Raises CliError when something is left that no key opens."""
    out.answer_dict(found)
    for name, counts in found.items():
        changed = plural(counts["changed"], "secret")
        out.say(f"The {name} database: {changed} brought under the newest key, none left under an old one.")
    lost = {name: counts["unreadable"] for name, counts in found.items() if counts["unreadable"]}
    if lost:
        where = " and ".join(
            f"{plural(count, 'secret')} of the {name} database" for name, count in lost.items()
        )
        raise CliError(f"No key opens {where}: add the key that sealed them to STEMMA_SECRET_KEY.")


def _described(key: pb.ApiKey) -> str:
    role = project_service_pb2.MemberRole.Name(key.role).removeprefix("MEMBER_ROLE_").lower()
    known = ["its projects' members decide" if not key.role else role, *key.scopes]
    title = f", {key.title!r}" if key.title else ""
    return printable(f"{key.principal} ({', '.join(known)}){title}")


def _state(key: pb.ApiKey) -> str:
    if key.HasField("revoke_time"):
        return f"revoked {key.revoke_time.ToDatetime(UTC):%Y-%m-%d}"
    if not key.HasField("expire_time"):
        return ""
    expires = key.expire_time.ToDatetime(UTC)
    return f"{'expired' if expires <= datetime.now(UTC) else 'expires'} {expires:%Y-%m-%d %H:%M} UTC"
