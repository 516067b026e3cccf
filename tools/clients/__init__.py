"""Makes the clients of other languages: stubs from the contract, libraries and examples from `clients/`."""
