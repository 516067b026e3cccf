"""Pure rules of the truth layer: what floors do to variables, memory and slots, and what is seen of it."""
