"""The `stemma` command."""
