"""What operators see of a running program: figures and traces. Knows nothing of what it counts."""
