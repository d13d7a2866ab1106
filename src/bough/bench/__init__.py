"""Benchmarks as commands of the project: `bough bench NAME` calls the function of that name in NAME_bench.py."""
