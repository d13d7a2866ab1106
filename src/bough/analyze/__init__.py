"""What can be asked of a model, one subject a file: loops, loads, momentum, operators, costs."""
