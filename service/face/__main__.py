"""`python -m intaglio` is the command `intaglio`."""

from intaglio.service.cli.main import main

if __name__ == "__main__":
    main()
