"""What a page holds, read back in Python as its scripts read it."""

import json
import re
import zlib
from base64 import b64decode

import numpy as np

from bough.look.buffers import KINDS


def scene_of(text):
    """The scene of a page, its arrays in place."""
    scene = json.loads(re.search(r'id="scene-data">(.*?)</script>', text, re.DOTALL).group(1))
    buffers = dict(re.findall(r'<script type="text/plain" id="buffer(\d+)">([^<]*)</script>', text))
    return filled(scene, buffers)


def filled(piece, buffers):
    if isinstance(piece, list):
        return [filled(each, buffers) for each in piece]
    if not isinstance(piece, dict):
        return piece
    if "buffer" in piece:
        return unpacked(buffers[str(piece["buffer"])], piece)
    return {key: filled(value, buffers) for key, value in piece.items()}


def unpacked(text, told):
    dtype, shape = KINDS[told["kind"]], told["shape"]
    planes = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8).reshape(dtype.itemsize, -1)
    steps = np.ascontiguousarray(planes.T).view(f"<u{dtype.itemsize}").reshape(int(np.prod(shape[1:])), shape[0])
    values = np.add.accumulate(steps, axis=1, dtype=steps.dtype).view(dtype).T.reshape(shape)
    if told["kind"] != "fine":
        return values
    return np.where(values == 65535, np.nan, np.array(told["low"]) + np.array(told["step"]) * values)
