"""Kane's equations summed over mass points: the witness that `bough verify` uses too."""
from bough.verify.witnesses.nodal import *  # noqa: F403
