"""System -> tables: partition into primitive hinges, numbering, and the numbers that the sweeps read."""
