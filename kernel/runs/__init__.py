"""Generation on a tree: a floor is opened, a provider writes it, it is committed or has failed."""
