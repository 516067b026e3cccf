"""What a model may call: built-in tools, the client's, and those of MCP servers."""
