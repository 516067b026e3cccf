"""Drafts: conversations beside canon."""
