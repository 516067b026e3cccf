"""What drafts are, and their rules. Pure."""
