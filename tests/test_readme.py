"""The README's examples print what the README says."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_print_what_the_readme_says():
    text, names = README.read_text(encoding="utf-8"), {}
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    outputs = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert examples
    for code, output in zip(examples, outputs, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(README), "exec"), names)
        assert printed.getvalue() == output


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
