"""The page itself: one file, complete, safe against names; the library comes from an installed package."""

import re
import zipfile

import pytest

import bough
from bough.errors import StateError
from bough.look import replay
from tests.support.result_runs import craft_run, pendulum_batch


def test_a_page_needs_nothing_from_outside(tmp_path):
    text = craft_run().view(tmp_path / "craft.html").path.read_text()
    ours = text.replace(replay.three_js(), "")
    assert len(ours) < len(text) - 500_000
    assert not re.search(r"https?://", ours)
    assert not re.search(r"<(link|img|iframe)\b|\bsrc=|@import|\bimport\(", ours)
    assert text.count("<script") == text.count("</script>")
    assert "Three.js Authors" in text
    assert "SPDX-License-Identifier: MIT" in text


def test_names_cannot_break_the_page(tmp_path):
    s = bough.System("</script><b>bold", gravity=(0, 0, -9.81))
    s.body("<!--<script>", joint=bough.Revolute("y", q0=0.5), mass=2.0, com=(0, 0, -1))
    text = bough.simulate(s, until=0.1, dt=0.01).view(tmp_path / "odd.html").path.read_text()
    assert text.count("<script") == text.count("</script>")
    assert "<b>bold" not in text
    assert "<!--" not in text.replace(replay.three_js(), "")


def test_a_notebook_shows_it_in_a_frame(tmp_path):
    made = pendulum_batch().view(tmp_path / "p.html", run=1)
    frame = made._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html')
    assert '"' not in frame[len('<iframe srcdoc="') : frame.index('" style=')]


def test_opening_is_up_to_the_caller(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    run = craft_run()
    run.view(tmp_path / "a.html")
    assert opened == []
    run.view(tmp_path / "a.html", open=True)
    assert opened == [(tmp_path / "a.html").as_uri()]
    assert run.view().path == tmp_path / "craft.html"
    assert len(opened) == 2
    run.view(open=False)
    assert len(opened) == 2
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    with pytest.raises(StateError, match="no browser could be started; open the file in one yourself"):
        run.view(tmp_path / "a.html", open=True)


@pytest.fixture
def other_package(tmp_path, monkeypatch):
    """A trimesh with another viewer."""
    replay.three_js.cache_clear()
    monkeypatch.setattr(replay, "files", lambda name: tmp_path)
    yield tmp_path / "resources" / "templates"
    replay.three_js.cache_clear()


def test_a_package_without_the_library_is_said(other_package):
    with pytest.raises(StateError, match=r"trimesh has no resources/templates/viewer\.zip .*install trimesh 5"):
        replay.three_js()
    other_package.mkdir(parents=True)
    with zipfile.ZipFile(other_package / "viewer.zip", "w") as archive:
        archive.writestr("viewer.html.template", "<script>/** @license other */</script>")
    with pytest.raises(StateError, match=r"three\.js, but it is not where it was in trimesh's viewer\.html\.template"):
        replay.three_js()
