"""One file for each command. What they need beyond typer is imported when they run: `--help` is quick."""
