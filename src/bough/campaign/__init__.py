"""Thousands of dispersed runs of one system: what varies, what is asked of the runs, on all cores or on a cluster."""
