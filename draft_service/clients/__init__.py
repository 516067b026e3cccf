"""The three calls that the draft service makes to the conversation service."""
