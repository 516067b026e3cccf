"""`stemma up`: the services as child processes."""
