"""A hook of mkdocs: pictures that pages show and docs/ does not hold are made while the site is built.

`gallery/NAME.png` is made by examples/gallery/NAME.py, any other one by the code of its own page.  With `pictures: false` under
`extra` in the configuration, all are blank: for a quick look at the text, and for the test of its links.
"""

import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from pages import run

PICTURE = re.compile(r"!\[[^]]*\]\(([^):]+\.png)\)")
BLANK = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
log = get_plugin_logger("pictures")
work = tempfile.TemporaryDirectory(prefix="bough-docs-")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is missing."""
    for page in files.documentation_pages():
        missing = [uri for uri in shown(page) if files.get_file_from_path(uri) is None]
        folder = Path(work.name) / page.src_uri.replace("/", "-")
        if missing and config.extra.get("pictures", True):
            folder.mkdir(exist_ok=True)
            make(page, missing, folder, Path(config.config_file_path).parent)
        for uri in missing:
            picture = folder / posixpath.basename(uri)
            files.append(File.generated(config, uri, abs_src_path=str(picture)) if picture.exists()
                         else File.generated(config, uri, content=BLANK))
    return files


def shown(page: File) -> list[str]:
    """The pictures on a page, as paths from docs/."""
    folder = posixpath.dirname(page.src_uri)
    return [posixpath.normpath(posixpath.join(folder, name)) for name in PICTURE.findall(page.content_string)]


def make(page: File, missing: list[str], folder: Path, root: Path) -> None:
    """Run what makes the pictures; what is not there afterwards is an error of the page."""
    log.info(f"making {len(missing)} pictures of {page.src_uri}")
    if missing[0].startswith("gallery/"):
        for uri in missing:
            script = root / "examples" / "gallery" / f"{Path(uri).stem}.py"
            subprocess.run([sys.executable, str(script), str(folder)], check=True, stdout=subprocess.DEVNULL)
    else:
        run(Path(page.abs_src_path), folder)
    for uri in missing:
        if not (folder / posixpath.basename(uri)).exists():
            log.warning(f"{page.src_uri} shows {uri}, which nothing makes")
