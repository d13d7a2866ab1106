"""The page on URDF: its robot is read, and its code prints what it says."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "urdf.md"


def test_the_page_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = PAGE.read_text(encoding="utf-8"), {}
    [robot] = re.findall(r"```xml\n(.*?)```", text, re.DOTALL)
    Path("arm.urdf").write_text(robot, encoding="utf-8")
    examples, outputs = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "text"))
    assert len(examples) == 2
    for code, output in zip(examples, outputs, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)
        assert printed.getvalue() == output
