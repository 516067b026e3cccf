"""Starting everything, saying what to try, and stopping it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.text import Text

from stemma_cli.calls.base import new_request_id
from stemma_cli.errors import CliError
from stemma_cli.options import DEFAULT_ADDRESS
from stemma_cli.output import Output
from stemma_cli.running.environment import access_on, for_services, refuse_busy
from stemma_cli.running.services import Services, Stopped

_ANSWERS = {
    "local": "the small local model on this machine",
    "scripted": "the scripted provider: no model, it repeats what it was sent",
    "openai": "the OpenAI-compatible endpoint of STEMMA_OPENAI_BASE_URL",
}

# Each is told where those before it listen; the gateway comes last.
_SERVICES = (("conversation_service", "STEMMA_CONVERSATION"), ("draft_service", "STEMMA_DRAFT"))


@dataclass(frozen=True, slots=True)
class Addresses:
    conversation: str
    draft: str
    http: str


@dataclass(frozen=True, slots=True)
class Access:
    """`key`: the first one, when it was made just now."""

    on: bool
    key: str


def run(out: Output, settings: Mapping[str, str], *, verbose: bool) -> None:
    """Serves until a signal, and then returns; everything that was started is gone.

    Raises CliError when something cannot be started, ends by itself, or does not stop.
    """
    refuse_busy(settings)
    provider, missing = _provider(settings)
    environment = for_services(settings, provider=provider, verbose=verbose)
    access = _access(settings)
    services, killed = Services(), list[str]()
    with services.signals():
        try:
            addresses = _start(services, environment)
            _welcome(out, addresses, provider, missing, access)
            services.wait()
            out.note("\nstopping …")
        except Stopped:
            out.note("\nstopped before everything was up")
        finally:
            killed += services.stop()
    if killed:
        raise CliError(f"{' and '.join(killed)} did not stop in time, and had to be killed.")


def _start(services: Services, environment: Mapping[str, str]) -> Addresses:
    """Where all listen. The lines are as the services print them: other programs wait for them."""
    found = dict(environment)
    for name, variable in (
        ("conversation_service", "STEMMA_CONVERSATION"),
        ("draft_service", "STEMMA_DRAFT"),
    ):
        found[variable] = services.start(name, found)
        print(f"{name} listening on {found[variable]}", flush=True)
    http = services.start("gateway", found)
    print(f"gateway listening on {http}", flush=True)
    return Addresses(found["STEMMA_CONVERSATION"], found["STEMMA_DRAFT"], http)


def _access(settings: Mapping[str, str]) -> Access:
    if not access_on(settings):
        return Access(False, "")
    from stemma_cli.running.access import first_key

    return Access(True, first_key(settings))


def _provider(settings: Mapping[str, str]) -> tuple[str, bool]:
    """Who answers, and whether that is only because the local model is missing."""
    chosen = settings.get("STEMMA_PROVIDER")
    if chosen:
        return chosen, False
    from kernel.generation.local import local_model_available

    return ("local", False) if local_model_available() else ("scripted", True)


def _welcome(out: Output, addresses: Addresses, provider: str, missing: bool, access: Access) -> None:
    conversation, http = addresses.conversation, addresses.http
    told = {"conversation": conversation, "draft": addresses.draft, "http": http, "provider": provider}
    out.answer_dict(told | ({"apiKey": access.key} if access.key else {}))
    out.say()
    if missing:
        out.say(
            "The local model is not installed, so the scripted provider answers (`make run` installs it).",
            "yellow",
        )
    out.say(f"Answers come from {_ANSWERS.get(provider, provider)}.")
    _say_access(out, access)
    out.say()
    out.say("Try")
    at = "" if conversation == DEFAULT_ADDRESS else f" --address {conversation}"
    body = f'\'{{"requestId": "{new_request_id()}"}}\''
    bringing = ' -H "authorization: Bearer $STEMMA_API_KEY"' if access.on else ""
    json = "-H 'content-type: application/json'"
    for what, command in (
        ("talk", f"stemma chat{at}"),
        ("begin over REST", f"curl {http}/v1/sessions{bringing} {json} -d {body}"),
        ("look", f"open {http}/console/"),
        ("read the API", f"curl {http}/openapi.json"),
    ):
        out.say(Text.assemble((f"  {what:17}", "dim"), (command, "bold cyan")), whole=True)
    out.say()
    out.note("Ctrl-C stops everything.")


def _say_access(out: Output, access: Access) -> None:
    if not access.on:
        out.say("Authentication is off: everybody on this machine can read and write everything.")
        return
    out.say("Access is on: whoever calls brings an API key or a token.")
    if access.key:
        out.say(
            "This is the first key, an owner's, with the scope admin. It is shown this once; take it along:"
        )
        out.say(Text(f"  export STEMMA_API_KEY={access.key}", "bold cyan"), whole=True)
    else:
        out.say("Set STEMMA_API_KEY to yours. More are made by `stemma keys create`, as an admin.")
