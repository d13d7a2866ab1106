"""Prescribed motions of joint coordinates: what a joint's `motion` takes."""

from bough.describe.motions import Constant, Harmonics, Motion, Move, Pieces, Polynomial, Rate, Spline

__all__ = ["Constant", "Harmonics", "Motion", "Move", "Pieces", "Polynomial", "Rate", "Spline"]
