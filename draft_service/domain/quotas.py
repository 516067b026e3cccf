"""Which writes a tenant may make when it stores all that it may, and which of them let a model write."""

FREE = frozenset(
    {
        # Makes room.
        "FinalizeDraft",
        "DiscardDraft",
        "CancelDraft",
        "ErasePrincipal",
        # Goes back, or elsewhere, among what is there.
        "MoveHead",
        "SelectSibling",
        # Ends what was begun.
        "CommitFloor",
        "CancelRun",
        "SubmitToolResults",
    }
)
GENERATING = frozenset({"Respond"})
