"""The help of the command line leaves no choice out."""

import re
from typing import get_args

import pytest
from typer.testing import CliRunner

from bough.bench.mechanisms import MECHANISMS
from bough.cli import app
from bough.describe.settings import Method
from bough.results.quantities import RECORDS


@pytest.mark.parametrize(("command", "names"), [
    (["run"], [*RECORDS, *get_args(Method)]),
    (["bench", "forward"], list(MECHANISMS)),
])  # fmt: skip
def test_help_names_all_choices(command, names):
    said = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "1000"}).output       # a line for each option
    assert [name for name in names if not re.search(rf"\b{name}\b", said)] == []
