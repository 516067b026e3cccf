"""The command itself: help, options, exit codes, what may be typed."""

import json

import pytest
from stemma_cli.chat.commands import COMMANDS, find_command, parse_number, split_edit
from stemma_cli.commands.migrate import Database, default_database_url
from stemma_cli.errors import CliError
from stemma_cli.main import app
from stemma_cli.options import DEFAULT_ADDRESS
from stemma_cli.running.environment import DEFAULT_HTTP, for_services, is_loopback
from stemma_cli.words import printable, shortened
from typer.testing import CliRunner

from conversation_service.settings import Settings
from tests.cli.programs import in_process
from tests.support.service import RunningService

runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})


def test_help_groups_the_commands_each_on_one_line_with_examples() -> None:
    shown = runner.invoke(app, ["--help"]).output
    for panel in ("─ Run ─", "─ Talk and look ─", "─ Files ─", "Examples"):
        assert panel in shown
    for command in app.registered_commands:
        assert command.callback is not None
        summary = (command.callback.__doc__ or "").split("\n")[0]
        (line,) = [one for one in shown.splitlines() if one.startswith(f"│ {command.name} ")]
        assert summary in line
    assert max(map(len, shown.splitlines())) <= 80
    assert runner.invoke(app, []).output.strip() == shown.strip()


@pytest.mark.parametrize(
    "name", ["up", "migrate", "verify", "bench", "chat", "tree", "sessions", "import", "export"]
)
def test_each_command_has_help(name: str) -> None:
    done = runner.invoke(app, [name, "-h"])
    assert done.exit_code == 0
    assert f"Usage: stemma {name} [OPTIONS]" in done.output


def test_the_version_is_printed() -> None:
    done = runner.invoke(app, ["--version"])
    assert done.exit_code == 0
    assert done.output.startswith("stemma")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chat", "--new", "an-id"], "leave the SESSION_ID out"),
        (["--address", "nowhere", "sessions"], "'nowhere' is not an address"),
        (["sessions", "--address", "127.0.0.1:0"], "asks for any free port"),
        (["tree"], "Missing argument"),
        (["nonsense"], "No such command"),
        (["sessions", "-n", "0"], "Invalid value for '--limit'"),
        (["import"], "Missing argument"),
        (["import", "no-such-file"], "error: no-such-file cannot be read: No such file or directory."),
        (["import", "pyproject.toml", "--format", "mbox"], "'mbox' is not one of"),
        (["import", "pyproject.toml"], "does not show clearly which format it has: say --format stemma"),
        (["import", "pyproject.toml", "--request-id", "x"], "Invalid value for '--request-id'"),
        (["import", "a", "b", "--request-id", "0198a0f0-0000-7000-8000-000000000000"], "is for one file"),
        (["export", "id", "--format", "mbox"], "'mbox' is not one of"),
        (["verify"], "Say which sessions, or --all"),
        (["verify", "--all", "an-id"], "Say which sessions, or --all"),
    ],
)
def test_what_was_typed_wrongly_exits_with_2(arguments: list[str], told: str) -> None:
    done = runner.invoke(app, arguments)
    assert done.exit_code == 2
    assert told in done.output
    assert "Traceback" not in done.output


async def test_errors_are_the_apis_own_with_json(service: RunningService) -> None:
    unknown = "0198a0f0-0000-7000-8000-000000000000"
    plain = await in_process("tree", unknown, STEMMA_CONVERSATION=service.address)
    assert (plain.code, plain.out, plain.err) == (1, "", "error: There is no such session. (NOT_FOUND)\n")
    for arguments in (["--json", "tree", unknown], ["tree", unknown, "--json"]):
        done = await in_process(*arguments, STEMMA_CONVERSATION=service.address)
        assert (done.code, done.out) == (1, "")
        status = json.loads(done.err)
        assert status["code"] == 5
        assert status["details"][0]["reason"] == "NOT_FOUND"
    elsewhere = await in_process(
        "chat", "--branch", "nowhere", lines=["x"], STEMMA_CONVERSATION=service.address
    )
    assert (elsewhere.code, elsewhere.err) == (1, "error: There is no branch 'nowhere'. There are: main.\n")


def test_the_defaults_are_the_services_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from draft_service.settings import Settings as DraftSettings
    from gateway.settings import Settings as GatewaySettings

    settings = Settings()
    assert settings.conversation == DEFAULT_ADDRESS
    assert settings.database_url == default_database_url(settings.data)
    drafts = DraftSettings()
    assert drafts.database_url == default_database_url(drafts.data, Database.DRAFT)
    assert GatewaySettings().http == DEFAULT_HTTP


def test_what_is_set_reaches_the_services_and_what_is_not_is_quiet() -> None:
    quiet = for_services({}, provider="scripted", verbose=False)
    assert quiet["STEMMA_LOG_LEVEL"] == "WARNING"
    assert quiet["STEMMA_AUTH"] == "off"
    assert for_services({}, provider="scripted", verbose=True)["STEMMA_LOG_LEVEL"] == "INFO"
    chosen = {"STEMMA_LOG_LEVEL": "ERROR", "STEMMA_LOG_FORMAT": "json", "STEMMA_SERVICE_KEY": "stk_ours"}
    chosen |= {"STEMMA_HTTP": "0.0.0.0:8080", "STEMMA_API_KEY": "of whoever starts it"}
    told = for_services(chosen, provider="openai", verbose=True)
    del chosen["STEMMA_API_KEY"]
    assert told.items() >= chosen.items()
    assert told["STEMMA_PROVIDER"] == "openai"
    # Others reach one of them: all of them ask who calls.
    assert told["STEMMA_AUTH"] == "on"
    assert "STEMMA_API_KEY" not in told


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1:80", True),
        ("127.8.9.1:80", True),
        ("[::1]:80", True),
        ("localhost:80", True),
        ("0.0.0.0:80", False),
        ("[::]:80", False),
        ("example.org:80", False),
        ("nonsense", False),
    ],
)
def test_loopback(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


@pytest.mark.parametrize(
    ("typed", "number", "text"),
    [
        ("I have fifty", None, "I have fifty"),
        ("2 I have fifty", 2, "I have fifty"),
        ("2 3 apples", 2, "3 apples"),
        ("fifty 2", None, "fifty 2"),
        ("²", None, "²"),
    ],
)
def test_an_edit_may_name_its_turn(typed: str, number: int | None, text: str) -> None:
    assert split_edit(typed) == (number, text)


@pytest.mark.parametrize("typed", ["", "3", "12345678901234 x"])
def test_an_edit_without_a_text_or_with_no_such_number_is_refused(typed: str) -> None:
    with pytest.raises(CliError):
        split_edit(typed)


@pytest.mark.parametrize("word", ["-1", "1.5", "x", "", "²", "1" * 10])
def test_only_a_plain_number_is_a_turn(word: str) -> None:
    with pytest.raises(CliError):
        parse_number(word)


def test_a_command_may_be_shortened_as_far_as_it_is_clear() -> None:
    assert find_command("reg") is COMMANDS["regenerate"]
    for name in ("r", "", "x"):
        with pytest.raises(CliError):
            find_command(name)


def test_shown_text_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[2J\x9b\x07b\r\nc\td\u202ee") == "a�[2J��b\nc\td�e"
    assert shortened("  one\n two   three", 9) == "one two…"
    assert shortened("one two", 7) == "one two"
    assert len(shortened("x" * 1_000, 44)) == 44
