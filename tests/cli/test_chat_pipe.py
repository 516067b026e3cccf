"""A chat through a pipe: one message or command a line, and what the model got for it."""

import asyncio
import re

import pytest
from stemma.kernel.v1 import floor_pb2
from stemma_cli.chat.chat import Chat
from stemma_cli.chat.conversation import Conversation
from stemma_cli.client import connect as connect_sync
from stemma_cli.errors import CliError
from stemma_cli.output import Output

from tests.cli.programs import COMMAND, environment, stemma
from tests.cli.talks import chat, documents, sent_messages, session_of, shown_messages, tax_of
from tests.conftest import DatabaseFactory
from tests.support.client import assistant, connect, texts, user
from tests.support.service import RunningService, running_service


async def path_of(service: RunningService, session_id: str) -> list[floor_pb2.Floor]:
    async with connect(service.address) as client:
        return await client.everything("ListPath", "floors", session_id=session_id)


async def test_an_edited_turn_is_answered_at_once_and_the_old_text_reaches_the_model_nowhere(
    service: RunningService,
) -> None:
    lines = ["I have fifteen apples.", "/edit I have fifty apples.", "How many?", "/context"]
    done = await stemma("chat", "--new", lines=lines, STEMMA_CONVERSATION=service.address)

    assert (done.code, done.err) == (0, "")
    assert "fifteen" not in str(sent_messages(service, 1)) + str(sent_messages(service, 2))
    assert sent_messages(service)[0] == ("user", "I have fifty apples.")
    assert shown_messages(done.out) == sent_messages(service)
    assert "turn 1 · input ‹2/2›" in done.out


async def test_context_is_exactly_what_was_sent_and_tells_the_tax(service: RunningService) -> None:
    lines = ["one", "two", "/regenerate", "three", "/rollback 1", "again two", "/context", "/context 1"]
    done = await chat(service, *lines)

    assert done.code == 0
    block, first = done.out.rsplit("What the model was sent for turn 1", 1)
    assert shown_messages(block) == sent_messages(service)
    assert [text for role, text in sent_messages(service) if role == "user"] == ["one", "again two"]
    tokens_in = sum(int(tokens) for tokens in re.findall(r"^\d+\. .*?(\d+) tokens?,", block, re.MULTILINE))
    assert f"2: 3 messages, {tokens_in} tokens" in block

    async with connect(service.address) as client:
        answer = await client.call("AssembleContext", session_id=session_of(done), branch="main")
    assert tax_of(block) == answer.explanation.tokens_abandoned > 0
    # The path has not changed, so the tax is the same, whichever of its turns is explained.
    assert tax_of(first) == tax_of(block)
    assert "1 message, 1 token" in first


async def test_the_digest_is_the_runs_own(service: RunningService) -> None:
    done = await chat(service, "one", "two", "/context", arguments=["--new", "--json"])
    *_, context = documents(done)
    started = [answer["started"] for answer in documents(done) if "started" in answer]
    assert context["explanation"]["contextDigest"] == started[-1]["contextDigest"]
    assert context["explanation"]["tokensIn"] == started[-1]["tokensIn"]


async def test_regenerate_and_siblings_choose_the_reply_that_is_sent(
    database_factory: DatabaseFactory,
) -> None:
    script = '{"replies": [{"text": "first reply"}, {"text": "second reply"}, {"text": "third reply"}]}'
    with database_factory("sqlite") as url:
        async with running_service(url, script=script) as service:
            done = await chat(
                service, "Tell me.", "/regenerate", "/siblings", "/siblings 1 1", "Go on.", "/siblings 1"
            )
            assert (done.code, done.err) == (0, "")
            assert sent_messages(service) == [
                ("user", "Tell me."),
                ("assistant", "first reply"),
                ("user", "Go on."),
            ]
    listed = [line for line in done.lines if re.match(r"[ →] \d  ", line)]
    assert listed == [
        "  1  reply ‹1/2›  Tell me.  →  first reply",
        "→ 2  reply ‹2/2›  Tell me.  →  second reply",
        "→ 1  reply ‹1/2›  Tell me.  →  first reply",
        "  2  reply ‹2/2›  Tell me.  →  second reply",
    ]
    assert "Turn 1 is version 1 of 2 now: Tell me.  →  first reply" in done.lines


async def test_switching_back_returns_to_what_was_said_after_the_version(service: RunningService) -> None:
    done = await chat(service, "one", "two", "three", "/edit 1 uno", "/siblings 1 1")
    assert done.lines[-1].startswith("main is at turn 3: three")


async def test_rollback_goes_back_to_any_turn_and_to_the_beginning(service: RunningService) -> None:
    done = await chat(service, "one", "two", "three", "/rollback 2", "/rollback 0", "anew", "/rollback 3")

    assert "main is at the beginning." in done.lines
    assert done.err == "error: There is no turn 3: the path has 1 turn.\n"
    assert sent_messages(service) == [("user", "anew")]
    (floor,) = await path_of(service, session_of(done))
    assert texts(floor.input_page) == ["anew"]


async def test_an_edit_in_the_middle_leaves_later_turns_below_the_old_version(
    service: RunningService,
) -> None:
    done = await chat(service, "one", "two", "three", "/edit 2 zwei", "/tree")

    users = [text for role, text in sent_messages(service) if role == "user"]
    assert users == ["one", "zwei"]
    tree = done.lines[done.lines.index("● the beginning") :]
    assert [re.sub(r"  →.*?(?=  ←|$)", "", line) for line in tree[:-1]] == [
        "● the beginning",
        "● 1  one",
        "├─○ 2 input ‹1/2›  two",
        "│ ○ 3  three",
        "● 2 input ‹2/2›  zwei  ← main",
    ]


async def test_a_failed_turn_is_said_and_can_be_regenerated_or_edited(service: RunningService) -> None:
    done = await chat(service, "hello", "break", "/regenerate", "/edit fine", "/context")

    assert done.code == 1
    assert done.err.count("The model did not answer in time (PROVIDER_TIMEOUT)") == 2
    assert "/regenerate asks again." in done.err
    assert "Traceback" not in done.err
    assert [text for role, text in sent_messages(service) if role == "user"] == ["hello", "fine"]
    assert shown_messages(done.out) == sent_messages(service)
    assert len(await path_of(service, session_of(done))) == 2


async def test_branches_are_listed_made_and_switched(service: RunningService) -> None:
    done = await chat(
        service, "one", "two", "/branch new side 1", "beside", "/branch main", "/branch", "/branch nowhere"
    )
    assert done.lines[-2:] == ["→ main  at turn 2", "  side  at turn 2"]
    assert done.err == "error: There is no branch 'nowhere'. There are: main, side.\n"
    assert [text for role, text in sent_messages(service) if role == "user"] == ["one", "beside"]

    again = await chat(service, "more", arguments=[session_of(done), "--branch", "side"])
    assert again.code == 0
    users = [text for role, text in sent_messages(service) if role == "user"]
    assert users == ["one", "beside", "more"]


async def test_without_an_id_the_latest_conversation_goes_on(service: RunningService) -> None:
    first = await chat(service, "one", arguments=[])
    second = await chat(service, "two", arguments=[])
    assert session_of(first) == session_of(second)
    assert "Going on with your latest conversation" in second.lines[0]
    assert "1 › one" in second.out
    assert session_of(await chat(service)) != session_of(first)


async def test_each_wrong_line_is_one_clear_error_and_the_rest_is_done(service: RunningService) -> None:
    done = await chat(
        service,
        "/siblings",
        "/edit 7 x",
        "/edit",
        "/rollback",
        "/rollback x",
        "/siblings 1 2 3",
        "/nonsense now",
        "/s",
        "//s is said",
        "",
        "/siblings 1 4",
        "/abandon",
        "/quit",
        "never said",
    )
    assert done.code == 1
    assert done.err.splitlines() == [
        "error: There is no turn yet: say something first.",
        "error: There is no turn 7: the path has 0 turns.",
        "error: Say what it should be: /edit TEXT for the last turn, or /edit N TEXT.",
        "error: Say how far: /rollback N goes back to turn N, and /rollback 0 to the beginning.",
        "error: 'x' is not a number. Turns are numbered from 1; /tree shows them.",
        "error: /siblings [N] lists the versions of a turn, /siblings N K switches to one.",
        "error: There is no /nonsense: /help lists the commands; //nonsense says it to the model.",
        "error: There is no turn yet: say something first.",
        "error: Turn 1 has 1 version: /siblings 1 lists them.",
        "error: There is no unfinished turn here.",
    ]
    assert [sent_messages(service, index) for index in range(len(service.sent))] == [[("user", "/s is said")]]


async def test_what_would_steer_the_terminal_is_not_printed(service: RunningService) -> None:
    done = await chat(service, "steer", "/context", "/tree", "/siblings")
    assert "�[31mred�]0;title� �txt" in done.out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err)


async def test_a_line_that_is_not_utf8_is_refused_alone(service: RunningService) -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "chat",
        env=environment(STEMMA_CONVERSATION=service.address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate(b"caf\xe9\nhello\n")
    assert err.decode() == "error: That line is not valid UTF-8.\n"
    assert sent_messages(service) == [("user", "hello")]


async def test_somebody_else_moving_the_branch_is_noticed(service: RunningService) -> None:
    def two_people() -> None:
        with connect_sync(service.address) as client:
            opened = client.create_session()
            here = Chat(Conversation(client, opened.session, opened.branch), Output(as_json=True))
            there = Conversation(client, opened.session, opened.branch)
            for event in client.respond(there.saying("first")):
                if event.HasField("floor_committed"):
                    there.ended(event)
            with pytest.raises(CliError, match="Somebody else moved main, which is at turn 1 now"):
                here.moving.roll_back(0)
            here.moving.roll_back(0)
            assert here.talk.turns == 0

    await asyncio.to_thread(two_people)


async def test_an_unfinished_turn_can_be_given_up(service: RunningService) -> None:
    async with connect(service.address) as client:
        session_id = await client.new_session()
        await client.call("OpenFloor", session_id=session_id, input=[user("left open")])
    done = await chat(service, "hello", "/abandon", "hello", arguments=[session_id])
    assert done.code == 1
    assert done.err.startswith("error: A turn on main is unfinished")
    assert "/abandon" in done.err
    assert sent_messages(service) == [("user", "hello")]


async def test_every_answer_is_a_line_of_json(service: RunningService) -> None:
    lines = ["hello", "/siblings", "/rollback 0", "/rollback 9", "/tree", "/context", "/branch"]
    done = await chat(service, *lines, arguments=["--new", "--json"])
    answers = documents(done)
    assert "session" in answers[0]
    kinds = [next((k for k in ("started", "textDelta", "floorCommitted") if k in a), "") for a in answers]
    assert kinds.index("started") < kinds.index("textDelta") < kinds.index("floorCommitted")
    siblings, moved, tree, context, branches = answers[-5:]
    assert len(siblings["floors"]) == len(siblings["positions"]) == 1
    assert moved["branch"]["depth"] == 0
    assert len(tree["floors"]) == 2
    assert context["messages"] == []
    assert [branch["name"] for branch in branches["branches"]] == ["main"]
    assert done.err.startswith("error: There is no turn 9")


async def test_what_a_budget_leaves_out_is_told(service: RunningService) -> None:
    async with connect(service.address) as client:
        budget = {"max_input_tokens": 40, "reserved_output_tokens": 10}
        session = (await client.call("CreateSession", config={"budget": budget})).session
        for number in range(4):
            turn = {"input": [user(f"old {number} " * 10)], "output": [assistant("yes")]}
            await client.call("AppendFloor", session_id=session.session_id, **turn)
    done = await chat(service, "now", "/context", arguments=[session.session_id])
    assert "of this path did not reach the model: /context says which and why." in done.out
    left_out = done.lines[next(n for n, line in enumerate(done.lines) if line.startswith("Left out: ")) :]
    assert re.fullmatch(r"   turn 1: \d+ tokens, older than the token budget allows", left_out[1])
    assert shown_messages(done.out) == sent_messages(service)
