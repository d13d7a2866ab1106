"""The replay: a result as a moving 3-D picture in one HTML file that any browser opens."""

from bough.look.replay import Replay, replay

__all__ = ["Replay", "replay"]
