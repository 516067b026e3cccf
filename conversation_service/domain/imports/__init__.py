"""Other systems' files, read as trees: `read.plans` is the way in."""
