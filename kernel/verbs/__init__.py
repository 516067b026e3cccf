"""What can be done to a tree: one function a verb, and the contract of the store they write to."""
