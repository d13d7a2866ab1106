"""three.js, the 3-D library of the page: trimesh ships it, in one piece with its license, inside the page of its own viewer."""

from __future__ import annotations

import re
import zipfile
from functools import cache
from importlib.resources import as_file, files

from bough.errors import StateError

_ARCHIVE, _PAGE = "resources/templates/viewer.zip", "viewer.html.template"
_LIBRARY = re.compile(
    r"/\*\*(?:(?!\*/).)*@license(?:(?!\*/).)*Three\.js Authors(?:(?!\*/).)*\*/\s*"      # the license
    r'![^\n]*"__esModule",\{value:!0\}\)\}\)+;',                                        # one line: it leaves the global THREE
    re.DOTALL,
)
_REMEDY = "install trimesh 5 (pip install 'trimesh>=5,<6')"


@cache
def three_js() -> str:
    """The source of three.js, its license first.

    >>> three_js().startswith("/**"), "SPDX-License-Identifier: MIT" in three_js()[:200]
    (True, True)
    """
    try:
        with as_file(files("trimesh") / _ARCHIVE) as path, zipfile.ZipFile(path) as archive:
            page = archive.read(_PAGE).decode("utf-8")
    except ModuleNotFoundError:
        raise StateError(f"the replay needs three.js, which trimesh ships, and there is no trimesh; {_REMEDY}") from None
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise StateError(f"the replay needs three.js, but trimesh has no {_ARCHIVE} with {_PAGE} ({error}); {_REMEDY}") from None
    found = _LIBRARY.search(page)
    if found is None or "</script" in found.group():
        raise StateError(f"the replay needs three.js, but it is not where it was in trimesh's {_PAGE}; {_REMEDY}")
    return found.group()
