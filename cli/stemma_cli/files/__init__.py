"""`stemma import` and `stemma export`."""
