"""Mechanics written a second time, from the description and NumPy alone: slow, and without anything of the sweeps."""
