"""Which writes a tenant may make when it stores all that it may, and which of them let a model write."""

FREE = frozenset(
    {
        # Makes room.
        "DeleteSession",
        "DeleteBranch",
        "ErasePrincipal",
        # Goes back, or elsewhere, among what is there.
        "MoveHead",
        "SelectSibling",
        "MergeBranch",
        "ArchiveProject",
        "RestoreProject",
        "ArchiveSession",
        "RestoreSession",
        # Ends what was begun.
        "ActivatePage",
        "CommitFloor",
        "AbandonFloor",
        "CancelRun",
        "SubmitToolResults",
        "RejectStagedWrite",
        "WithdrawStagedWrite",
        # Who may come in is nobody's text.
        "SetProjectMember",
        "RemoveProjectMember",
        "CreateApiKey",
        "RevokeApiKey",
    }
)
GENERATING = frozenset({"Respond"})
