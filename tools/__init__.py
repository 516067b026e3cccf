"""What the Makefile runs: generation, checks, and the proof that a fresh clone works."""
