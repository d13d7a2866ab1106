"""Every example of the gallery runs, finds its fact to be true and makes a picture; the page about them names them all."""

import runpy
from pathlib import Path

import pytest
from matplotlib.image import imread

from bough.files import EXAMPLES, first_line, read_system

GALLERY = sorted((EXAMPLES / "gallery").glob("*.py"))
PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_it_asserts_its_fact_and_makes_its_picture(path, tmp_path, capsys):
    written = runpy.run_path(str(path))["main"](tmp_path / "pictures")
    assert written == tmp_path / "pictures" / f"{path.stem}.png"
    picture = imread(written)
    assert min(picture.shape[:2]) > 400
    assert picture[..., :3].std() > 0.05                                # not an empty sheet
    assert 1 <= len(capsys.readouterr().out.splitlines()) <= 3


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_it_is_a_lesson_of_its_own(path):
    text = path.read_text(encoding="utf-8")
    assert "\nFact: " in text.partition('"""\n\nimport')[0]
    assert len(text.splitlines()) < 145
    assert "assert" in text
    assert f"## {path.stem}\n" in PAGE.read_text(encoding="utf-8")
    assert first_line(path) in PAGE.read_text(encoding="utf-8")


def test_the_gallery_holds_what_was_promised():
    assert len(GALLERY) >= 10
    assert read_system(GALLERY[0]).settings.until > 0                   # bough run takes them as well
