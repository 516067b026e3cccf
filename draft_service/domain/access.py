"""Who may make which call: one row for each RPC of the service."""

from collections.abc import Mapping

from kernel.verbs.access import ADMIN, ANYBODY, CONTRIBUTOR, OBSERVER, Rule

_DRAFT = ("draft_id",)
_LOOK, _USE = Rule(OBSERVER, _DRAFT), Rule(CONTRIBUTOR, _DRAFT)

RULES: Mapping[str, Rule] = {
    # Where it comes from.
    "CreateDraft": Rule(CONTRIBUTOR, ("project_id", "session_id")),
    # The caller's own, and what its projects' members may see.
    "ListDrafts": Rule(ANYBODY),
    **dict.fromkeys(("GetDraft", "GetTranscript", "GetTree", "GetRun", "AttachRun", "ListProposals"), _LOOK),
    # A contributor's own; an owner's, of anybody in the project.
    **dict.fromkeys(
        (
            "AppendMessage",
            "Respond",
            "EditFloor",
            "RegenerateFloor",
            "CommitFloor",
            "MoveHead",
            "SelectSibling",
            "FinalizeDraft",
            "DiscardDraft",
            "CancelDraft",
            "CancelRun",
            "SubmitToolResults",
        ),
        _USE,
    ),
    # And where it is to go.
    "ExportDraft": Rule(
        CONTRIBUTOR, ("draft_id", "target.project_id", "target.session_id", "target.floor_id")
    ),
    "ListAuditEntries": Rule(ADMIN),
    "ErasePrincipal": Rule(ADMIN),
}
