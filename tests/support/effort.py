"""How much is tried: the same few cases each time in `make test`, many and new ones in `make test-long`."""
import os

from hypothesis import settings

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def examples(count):
    """So many examples of Hypothesis; thirty times as many in the long run."""
    return settings(max_examples=count*(30 if LONG else 1))


def seeds(few, many):
    """Seeds of random cases: all of them in the long run."""
    return range(many if LONG else few)
