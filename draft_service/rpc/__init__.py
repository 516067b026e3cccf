"""DraftService: check, call, convert."""
