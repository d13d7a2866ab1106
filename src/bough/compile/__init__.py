"""System -> tables: partition into primitive hinges, numbering, and the arrays that the sweeps read."""
