"""Use cases of the draft service."""
