"""`python -m intaglio` is the command `intaglio`."""

from ..cli.main import main

if __name__ == "__main__":
    main()
