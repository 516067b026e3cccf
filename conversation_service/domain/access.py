"""Who may make which call: one row for each RPC of the service."""

from collections.abc import Mapping

from kernel.verbs.access import ADMIN, ANYBODY, CONTRIBUTOR, OBSERVER, OWNER, SERVICE, Rule

_PROJECT, _SESSION, _FLOOR = ("project_id",), ("session_id",), ("floor_id",)
_EITHER = ("project_id", "session_id")
_PLACE = ("session_id", "floor_id")
_RUN = ("run_id",)
_ENTRY = ("staged_write_id",)


def _each(rule: Rule, *names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, rule)


RULES: Mapping[str, Rule] = {
    # Projects.
    **_each(Rule(OWNER), "CreateProject"),
    **_each(Rule(ANYBODY), "ListProjects"),
    **_each(Rule(OBSERVER, _PROJECT), "GetProject", "ListProjectMembers"),
    **_each(
        Rule(OWNER, _PROJECT),
        "UpdateProject",
        "ArchiveProject",
        "RestoreProject",
        "SetProjectMember",
        "RemoveProjectMember",
    ),
    **_each(Rule(OBSERVER, _EITHER), "GetEffectiveConfig", "ListConfigVersions", "GetConfigVersion"),
    **_each(Rule(OWNER, _EITHER), "RestoreConfigVersion"),
    # Sessions.
    **_each(Rule(OWNER, _PROJECT, default=True), "CreateSession"),
    **_each(Rule(OWNER, ("header.project_id",), default=True), "ImportSessions"),
    # Without a project: those of the caller's projects.
    **_each(Rule(ANYBODY, _PROJECT), "ListSessions"),
    **_each(Rule(OBSERVER, _SESSION), "GetSession", "ExportSession"),
    **_each(Rule(OWNER, _SESSION), "UpdateSession", "ArchiveSession", "RestoreSession", "DeleteSession"),
    **_each(Rule(OWNER, _PLACE), "ForkSession"),
    # Floors.
    **_each(Rule(OWNER, _SESSION), "AppendFloor", "AppendFloors", "OpenFloor", "DeleteBranch", "MergeBranch"),
    **_each(Rule(OWNER, _PLACE), "EditFloor", "RegenerateFloor", "MoveHead", "SelectSibling", "CreateBranch"),
    **_each(Rule(OWNER, _FLOOR), "AddPage", "CommitFloor", "AbandonFloor"),
    **_each(Rule(OWNER, ("page_id",)), "ActivatePage"),
    **_each(Rule(OBSERVER, _SESSION), "ListBranches", "DiffBranches", "ListHeadMoves", "GetTree"),
    **_each(Rule(OBSERVER, _FLOOR), "GetFloor", "ListSiblings", "ListPages"),
    **_each(Rule(OBSERVER, _PLACE), "ListPath"),
    **_each(Rule(OBSERVER, _EITHER), "SearchMessages"),
    # Runs.
    **_each(
        Rule(OWNER, ("session_id", "edit.floor_id", "regenerate.floor_id", "resume.floor_id")), "Respond"
    ),
    **_each(Rule(OBSERVER, _RUN), "AttachRun", "GetRun"),
    **_each(Rule(OWNER, _RUN), "CancelRun", "SubmitToolResults"),
    # Contexts and state.
    **_each(Rule(OBSERVER, _PLACE), "AssembleContext", "ListMemory"),
    **_each(Rule(OBSERVER, _FLOOR), "ExplainFloor"),
    **_each(Rule(OBSERVER, ("left_floor_id", "right_floor_id")), "DiffContexts"),
    **_each(Rule(OBSERVER, ("session_id", "floor_id", "project_id")), "GetState"),
    **_each(Rule(OWNER, _EITHER), "WriteState"),
    # The ledger. What is staged for somebody is staged by a service that has looked.
    **_each(
        Rule(CONTRIBUTOR, ("target.project_id", "target.session_id", "target.floor_id"), also=SERVICE),
        "StageWrite",
    ),
    **_each(Rule(OBSERVER, _ENTRY), "GetStagedWrite", "PreviewStagedWrite"),
    # Those of the caller's projects.
    **_each(Rule(ANYBODY, _EITHER), "ListStagedWrites"),
    **_each(Rule(OWNER, _ENTRY), "AcceptStagedWrite", "RejectStagedWrite"),
    # Their own; an owner withdraws any.
    **_each(Rule(CONTRIBUTOR, _ENTRY), "WithdrawStagedWrite"),
    # Events.
    **_each(Rule(OBSERVER, _PROJECT), "ListEvents", "WatchEvents"),
    # Services, and who keeps the house.
    **_each(Rule(SERVICE), "GetSnapshot", "Introspect"),
    **_each(
        Rule(ADMIN),
        "CreateApiKey",
        "RevokeApiKey",
        "ListApiKeys",
        "ListAuditEntries",
        "VerifySession",
        "ErasePrincipal",
    ),
}
