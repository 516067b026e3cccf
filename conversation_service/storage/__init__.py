"""What the conversation service keeps beside the kernel's tables."""
