"""`python -m allstreets` is the `allstreets` command."""

from allstreets.cli.main import run

if __name__ == "__main__":
    run()
