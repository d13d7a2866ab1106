"""The stepping loops, compiled: what is in this folder decides, with kernels and sweeps, when to compile anew."""
