"""Databases of the draft service, as its own tests have them."""

from tests.drafts.conftest import draft_databases, draft_url

__all__ = ["draft_databases", "draft_url"]
