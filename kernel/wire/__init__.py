"""Between the contract's messages and the kernel's values: the stored bytes, and the answers."""
