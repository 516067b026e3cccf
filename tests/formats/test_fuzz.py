"""The fuzz targets for a moment each; CI runs them for a minute (`python -m tests.formats.fuzz`)."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conversation_service.domain.imports.model import PlannedTree
from conversation_service.domain.imports.read import FORMATS
from tests.formats import fuzz


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_files_are_refused_or_read_right(format: str) -> None:
    tried, conversations = fuzz.run(format, seconds=1.0)
    assert tried > 10
    assert conversations > 0


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target can fail: an importer that forgets a path is caught."""
    paths = fuzz.plan_paths

    def forgetful(tree: PlannedTree) -> Counter[Any]:
        return Counter(list(paths(tree).elements())[1:])

    monkeypatch.setattr(fuzz, "plan_paths", forgetful)
    monkeypatch.setattr(fuzz, "kept", lambda format, data: Path("input"))
    with pytest.raises(AssertionError, match="AssertionError for input"):
        fuzz.run("oasst", seconds=30.0)
