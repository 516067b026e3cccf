"""Pure rules of the tree: floors, pages, places, digests, positions."""
