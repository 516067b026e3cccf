"""The same work done by peers, in an environment of their own (`make bench-peers` makes it)."""
