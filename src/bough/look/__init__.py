"""The replay: a result as a 3-D animation in one HTML file that any browser opens."""

from bough.look.replay import view

__all__ = ["view"]
