"""The rules of the conversation service that need no transport and no storage. Pure."""
