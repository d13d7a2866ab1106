"""Systems from and for other tools."""
