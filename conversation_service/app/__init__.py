"""Use cases that are the conversation service's own; what a tree can do is in `kernel.verbs`."""
