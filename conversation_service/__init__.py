"""Owns the truth: sessions, their trees, and what a commit changes."""
