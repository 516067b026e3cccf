"""`python -m stemma_cli`: the `stemma` command."""

from stemma_cli.main import app

if __name__ == "__main__":
    app(prog_name="stemma")
