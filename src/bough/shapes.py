"""What bodies look like, and where their mass comes from if a shape has a density."""

from bough.describe.body_shapes import Box, Cylinder, Mesh, Shape, Sphere

__all__ = ["Box", "Cylinder", "Mesh", "Shape", "Sphere"]
