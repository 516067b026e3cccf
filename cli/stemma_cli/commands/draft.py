"""`stemma draft …`."""

from pathlib import Path
from typing import Annotated

import typer

from stemma_cli.options import DraftAddress, Json, draft_address, wants_json

draft = typer.Typer(
    name="draft",
    help="Conversations beside canon: candidate replies, set-up, agents. They leave nothing behind but what "
    "is exported and accepted.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)

DraftId = Annotated[str, typer.Argument(metavar="DRAFT_ID", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)]
SessionId = Annotated[
    str, typer.Option("--session", metavar="SESSION_ID", help="A conversation.", show_default=False)
]
ProjectId = Annotated[
    str, typer.Option("--project", metavar="PROJECT_ID", help="A project, or `default`.", show_default=False)
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="JSON: what differs from the source's.", show_default=False
    ),
]
System = Annotated[
    str,
    typer.Option(
        "--system", metavar="TEXT", help="Instead of the source's instructions.", show_default=False
    ),
]


@draft.command("new")
def new(  # noqa: PLR0913, PLR0917 (an argument for each option)
    context: typer.Context,
    purpose: Annotated[str, typer.Argument(metavar="PURPOSE", show_default=False)],
    session: SessionId = "",
    project: ProjectId = "",
    floor: Annotated[
        str, typer.Option("--floor", metavar="FLOOR_ID", help="Where, else main's head.", show_default=False)
    ] = "",
    reply: Annotated[
        bool, typer.Option("--reply", help="Instead of that floor's answer.", show_default=False)
    ] = False,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", show_default=False)] = "",
    ttl: Annotated[
        int, typer.Option("--ttl", metavar="SECONDS", help="Ends by itself then.", show_default=False)
    ] = 0,
    internal: Annotated[bool, typer.Option("--internal", help="For you alone.", show_default=False)] = False,
    no_history: Annotated[
        bool, typer.Option("--no-history", help="Without what was said before.", show_default=False)
    ] = False,
    config: ConfigFile = None,
    system: System = "",
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """Begin a draft, from a conversation or a project."""
    from stemma.draft.v1 import draft_pb2
    from stemma.draft.v1 import draft_service_pb2 as pb

    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import config_from, new_draft
    from stemma_cli.errors import UsageError
    from stemma_cli.output import Output

    if bool(session) == bool(project):
        raise UsageError("Say what it is made from: --session or --project.")
    request = pb.CreateDraftRequest(purpose=purpose, title=title, floor_id=floor)
    if session:
        request.session_id = session
    else:
        request.project_id = project
    if reply:
        request.position = draft_pb2.DRAFT_POSITION_REPLY_TO_FLOOR
    if ttl:
        request.retention_policy = draft_pb2.RETENTION_POLICY_TTL
        request.ttl.seconds = ttl
    if internal:
        request.visibility = draft_pb2.VISIBILITY_INTERNAL
    if no_history:
        request.include_history = False
    if config is not None:
        request.config.CopyFrom(config_from(config))
    if system:
        request.config.system_prompt = system
        request.replace_system_prompt = True
    with connect_drafts(draft_address(address)) as client:
        new_draft(Output(as_json=wants_json(context, json)), client, request)


@draft.command("list")
def list_(
    context: typer.Context,
    session: SessionId = "",
    project: ProjectId = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, metavar="COUNT")] = 20,
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """List drafts, the newest first."""
    from stemma.draft.v1 import draft_service_pb2 as pb

    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import list_drafts
    from stemma_cli.output import Output

    request = pb.ListDraftsRequest(session_id=session, project_id=project, page_size=limit)
    with connect_drafts(draft_address(address)) as client:
        list_drafts(Output(as_json=wants_json(context, json)), client, request)


@draft.command("show")
def show(context: typer.Context, draft_id: DraftId, address: DraftAddress = None, json: Json = False) -> None:
    """Show what a draft is, and how it stands."""
    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import show_draft
    from stemma_cli.output import Output

    with connect_drafts(draft_address(address)) as client:
        show_draft(Output(as_json=wants_json(context, json)), client, draft_id)


@draft.command("say")
def say(
    context: typer.Context,
    draft_id: DraftId,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", show_default=False)] = "",
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate",
            metavar="INSTRUCTION",
            help="An answer of its own, as instructed. Give it several times, then `choose`.",
            show_default=False,
        ),
    ] = None,
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """Say something in a draft, and see the answer; without words an open turn is answered."""
    from stemma_cli.client import connect_drafts
    from stemma_cli.draft_runs import say as run
    from stemma_cli.output import Output

    with connect_drafts(draft_address(address)) as client:
        run(Output(as_json=wants_json(context, json)), client, draft_id, text, candidates or [])


@draft.command("choose")
def choose(
    context: typer.Context,
    draft_id: DraftId,
    page_id: Annotated[str, typer.Argument(metavar="PAGE_ID", show_default=False)],
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """Take one of several answers to the open turn."""
    from stemma_cli.client import connect_drafts
    from stemma_cli.draft_runs import choose as run
    from stemma_cli.output import Output

    with connect_drafts(draft_address(address)) as client:
        run(Output(as_json=wants_json(context, json)), client, draft_id, page_id)


@draft.command("proposals")
def proposals(
    context: typer.Context, draft_id: DraftId, address: DraftAddress = None, json: Json = False
) -> None:
    """List the changes that the model proposed in a draft."""
    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import list_proposals
    from stemma_cli.output import Output

    with connect_drafts(draft_address(address)) as client:
        list_proposals(Output(as_json=wants_json(context, json)), client, draft_id)


@draft.command("transcript")
def transcript(
    context: typer.Context,
    draft_id: DraftId,
    frozen: Annotated[
        bool, typer.Option("--snapshot", help="The frozen history too.", show_default=False)
    ] = False,
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """Print what was said in a draft."""
    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import show_transcript
    from stemma_cli.output import Output

    with connect_drafts(draft_address(address)) as client:
        show_transcript(Output(as_json=wants_json(context, json)), client, draft_id, frozen)


def _end(
    context: typer.Context, how: str, draft_id: str, reason: str, address: str | None, json: bool
) -> None:
    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import end_draft
    from stemma_cli.output import Output

    with connect_drafts(draft_address(address)) as client:
        end_draft(Output(as_json=wants_json(context, json)), client, how, draft_id, reason)


@draft.command("finalize")
def finalize(
    context: typer.Context,
    draft_id: DraftId,
    reason: Reason = "",
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """End a draft, its work done."""
    _end(context, "Finalize", draft_id, reason, address, json)


@draft.command("discard")
def discard(
    context: typer.Context,
    draft_id: DraftId,
    reason: Reason = "",
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """End a draft whose result nobody wants."""
    _end(context, "Discard", draft_id, reason, address, json)


@draft.command("cancel")
def cancel(
    context: typer.Context,
    draft_id: DraftId,
    reason: Reason = "",
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """Break a draft off."""
    _end(context, "Cancel", draft_id, reason, address, json)


@draft.command("export")
def export(  # noqa: PLR0913, PLR0917 (an argument for each option)
    context: typer.Context,
    draft_id: DraftId,
    page: Annotated[
        str, typer.Option("--page", metavar="PAGE_ID", help="Else the last answer.", show_default=False)
    ] = "",
    reply: Annotated[
        bool, typer.Option("--reply", help="As another answer of the source floor.", show_default=False)
    ] = False,
    with_input: Annotated[
        bool, typer.Option("--with-input", help="The turn's question too.", show_default=False)
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option("--config-patch", metavar="FILE", help="RFC 6902 operations.", show_default=False),
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state-patch", metavar="FILE", help="Effects.", show_default=False)
    ] = None,
    proposal: Annotated[str, typer.Option("--proposal", metavar="PROPOSAL_ID", show_default=False)] = "",
    answer: Annotated[
        bool, typer.Option("--answer/--no-answer", help="Whether an answer comes along.", show_default=False)
    ] = True,
    finalize: Annotated[bool, typer.Option("--finalize", help="And end it.", show_default=False)] = False,
    reason: Reason = "",
    address: DraftAddress = None,
    json: Json = False,
) -> None:
    """Copy something out of a draft for review: the last answer, or a change of configuration or state.

    It waits in the ledger of the draft's source until somebody accepts it there.
    """
    from stemma.draft.v1 import draft_service_pb2 as pb
    from stemma.kernel.v1 import staged_write_pb2

    from stemma_cli.client import connect_drafts
    from stemma_cli.drafts import effects_from, export_draft, read
    from stemma_cli.output import Output

    request = pb.ExportDraftRequest(draft_id=draft_id, reason=reason, finalize=finalize)
    request.target.SetInParent()
    if config is not None:
        request.parts.add().config_patch.operations_json = read(config)
    if state is not None:
        request.parts.add().state_patch.effects.CopyFrom(effects_from(state))
    if proposal:
        request.parts.add().proposal_id = proposal
    if answer:
        placements = staged_write_pb2.PLACEMENT_OUTPUT_OF_FLOOR, staged_write_pb2.PLACEMENT_NEXT_FLOOR
        request.target.placement = placements[0] if reply else placements[1]
        request.parts.add().output_page.page_id = page
        request.parts[-1].output_page.with_input = with_input
    with connect_drafts(draft_address(address)) as client:
        export_draft(Output(as_json=wants_json(context, json)), client, request)
