"""What many clients did, what was left in the end, and whether the two fit the promises."""
