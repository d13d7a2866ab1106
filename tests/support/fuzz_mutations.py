"""How good input is made bad: texts, trees of plain data, bytes, arrays; each by a random generator that a seed begins."""

import copy
import re

import numpy as np

TEXTS = [
    "",
    " ",
    "x",
    "world",
    "nan",
    "-.inf",
    "1e999",
    "0x1f",
    "~",
    "{",
    "[",
    "]",
    "&a",
    "*a",
    "!!python/object:os.system x",
    "é\u202e",
    "\t",
    "a" * 300,
    "../../../etc/passwd",
    "${HOME}",
    "%s%n",
    "\x00",
    "2001-01-01",
    "0",
    "-1",
    "1e308",
    "1e-320",
    "9" * 400,
    "<",
    "&lol;",
    "\ufeff",
    "spherical",
    "locked",
    "xyz",
    "-x",
    "xx",
]
NUMBERS = [
    0,
    -1,
    1,
    2,
    3,
    7,
    1e-3,
    1e-320,
    1e-30,
    1e30,
    1e200,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    2**31,
    2**63,
    10**30,
    10**400,
    True,
    False,
    0.1,
    -0.0,
    np.float32(3.0),
    3 + 0j,
]
PLAIN = [number for number in NUMBERS if not isinstance(number, np.generic | complex)]


def number(rng):
    return PLAIN[rng.integers(len(PLAIN))] if rng.random() < 0.7 else float(rng.normal() * 10.0 ** rng.integers(-12, 12))


def other(rng, value):
    """In the place of a number: any other, or one of its size, which is taken more often and goes further."""
    return number(rng) if rng.random() < 0.5 or not abs(value) < 1e300 else float(value * rng.normal())


def thing(rng, deep=0):
    """Anything that a file can hold."""
    kind = rng.random()
    if kind < 0.45 or deep > 2:
        return number(rng)
    if kind < 0.7:
        return TEXTS[rng.integers(len(TEXTS))]
    if kind < 0.75:
        return None
    if kind < 0.9:
        return [thing(rng, deep + 1) for _ in range(rng.integers(5))]
    return {TEXTS[rng.integers(len(TEXTS))]: thing(rng, deep + 1) for _ in range(rng.integers(3))}


# ---- plain data --------------------------------------------------------------------------------------------------------------
def places(data, path=()):
    """The way to each entry of lists and mappings."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(data, path):
    for key in path:
        data = data[key]
    return data


def changed_data(rng, data, others=()):
    """The same with one to three entries changed: another value, gone, twice, under another name, or those of another."""
    data = copy.deepcopy(data)
    for _ in range(rng.integers(1, 4)):
        ways = list(places(data))
        if not ways:
            return thing(rng)
        way = ways[rng.integers(len(ways))]
        into, key = at(data, way[:-1]), way[-1]
        change_entry(rng, into, key, others)
    return data


def change_entry(rng, into, key, others):
    kind = rng.random()
    if kind < 0.5:
        into[key] = nudged(rng, into[key])
    elif kind < 0.65:
        del into[key]
    elif kind < 0.75 and isinstance(into, list):
        into.insert(int(rng.integers(len(into) + 1)), copy.deepcopy(into[key]))
    elif kind < 0.85 and isinstance(into, dict):
        into[TEXTS[rng.integers(len(TEXTS))] if rng.random() < 0.3 else str(key)[::-1]] = into.pop(key)
    elif others:
        other = others[rng.integers(len(others))]
        ways = list(places(other))
        into[key] = copy.deepcopy(at(other, ways[rng.integers(len(ways))])) if ways else thing(rng)


def nudged(rng, value):
    """Another value of the same kind, or of any."""
    if isinstance(value, bool) or rng.random() < 0.4:
        return thing(rng)
    if isinstance(value, int | float):
        return other(rng, value)
    if isinstance(value, str):
        return changed_text(rng, value) if value else TEXTS[rng.integers(len(TEXTS))]
    if isinstance(value, list) and value:
        return [other(rng, each) if isinstance(each, int | float) else each for each in value] if rng.random() < 0.6 else value[:-1]
    return thing(rng)


# ---- texts and bytes ---------------------------------------------------------------------------------------------------------
def changed_text(rng, text, words=()):
    """The same with one to three places changed: numbers, words, lines, letters."""
    for _ in range(rng.integers(1, 4)):
        text = CHANGES[rng.integers(len(CHANGES))](rng, text, words)
    return text


def other_number(rng, text, words):
    found = list(re.finditer(r"-?\d+\.?\d*(e-?\d+)?", text))
    if not found:
        return text
    one = found[rng.integers(len(found))]
    return f"{text[: one.start()]}{other(rng, float(one.group()))}{text[one.end() :]}"


def other_word(rng, text, words):
    found = list(re.finditer(r"\w+", text))
    if not found:
        return text
    one = found[rng.integers(len(found))]
    pool = words if len(words) and rng.random() < 0.7 else TEXTS
    return f"{text[: one.start()]}{pool[rng.integers(len(pool))]}{text[one.end() :]}"


def other_lines(rng, text, words):
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    i, j, kind = *rng.integers(len(lines), size=2), rng.integers(5)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i] = "  " * int(rng.integers(3)) + lines[i].lstrip()
    else:
        lines = lines[: i + 1]
    return "".join(lines)


def other_letters(rng, text, words):
    i = int(rng.integers(len(text) + 1))
    if rng.random() < 0.5:
        return text[:i] + TEXTS[rng.integers(len(TEXTS))] + text[i:]
    return text[:i] + chr(int(rng.integers(1, 0x3000))) + text[i + 1 :]


def cut(rng, text, words):
    return text[: rng.integers(len(text) + 1)] if rng.random() < 0.3 else text


CHANGES = (other_number, other_number, other_word, other_word, other_lines, other_letters, cut)


def changed_bytes(rng, data):
    """Some bytes other ones, a part gone or twice, or cut."""
    data, kind = bytearray(data), rng.random()
    if kind < 0.6:
        for _ in range(int(2 ** rng.uniform(0, 6))):
            data[rng.integers(len(data))] = rng.integers(256)
    elif kind < 0.75:
        i, n = rng.integers(len(data)), rng.integers(1, 64)
        data[i : i + n] = bytes(n) if rng.random() < 0.5 else b"\xff" * int(n)
    elif kind < 0.9:
        i, n = rng.integers(len(data)), rng.integers(1, 200)
        data[i:i] = data[i : i + n] if rng.random() < 0.5 else b""
        del data[i : i + n // 2]
    else:
        data = data[: rng.integers(len(data))]
    return bytes(data)


# ---- arrays ------------------------------------------------------------------------------------------------------------------
def changed_array(rng, values):
    """Another shape, another kind, or numbers that are none."""
    values = np.array(values)
    kind = rng.integers(12)
    if kind in (0, 9) and values.size and values.dtype.kind in "if":
        values = values.astype(float)
        values.flat[rng.integers(values.size)] = number_of_array(rng)
    elif kind > 9 and values.dtype.kind in "if":  # of the same size
        values = values * rng.uniform(0.5, 2.0) if kind == 10 else values * rng.uniform(0.9, 1.1, values.shape)
    elif kind == 1:
        values = values[..., None]
    elif kind == 2:
        values = values.reshape(-1)[: rng.integers(values.size + 1)]
    elif kind == 3:
        values = values.astype(complex) if values.dtype.kind in "if" else values
    elif kind == 4:
        values = values.astype(str)
    elif kind == 5:
        values = values.astype(object)
    elif kind == 6:
        values = np.zeros(tuple(rng.integers(0, 4, size=rng.integers(0, 4))))
    elif kind == 7 and values.dtype.kind in "if":
        values = values * number_of_array(rng)
    else:
        values = np.concatenate([np.atleast_1d(values)] * 2)
    return values


def number_of_array(rng):
    found = number(rng)
    return 1e300 if isinstance(found, int) and abs(found) > 2**62 else float(found)
