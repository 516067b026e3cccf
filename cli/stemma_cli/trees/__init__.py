"""Drawing a session's tree."""
