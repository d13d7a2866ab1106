"""`python -m bough` is the command line."""

from bough.cli import main

main()
