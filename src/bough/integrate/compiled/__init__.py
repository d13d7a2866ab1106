"""The compiled stepping loops; with kernels and sweeps, the sources in this folder determine when to compile again."""
