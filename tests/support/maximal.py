"""The witness in maximal coordinates, which `bough verify` uses too."""
from bough.verify.witnesses.maximal import *  # noqa: F403
