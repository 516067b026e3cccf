"""The calls of each service, one class each; `client.Client` has them all."""
