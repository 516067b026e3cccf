"""The tables that drafts have besides the kernel's."""
