"""The fuzz targets for a moment each; CI runs them for a minute (`python -m tests.formats.fuzz`)."""

import pytest

from conversation_service.domain.imports.read import FORMATS
from tests.formats import fuzz


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_files_are_refused_or_read_right(format: str) -> None:
    tried, conversations = fuzz.run(format, seconds=1.0)
    assert tried > 10
    assert conversations > 0


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target can fail: an importer that forgets a path is caught."""
    forgetful = fuzz.plan_paths
    monkeypatch.setattr(
        fuzz, "plan_paths", lambda tree: forgetful(tree) - {next(iter(forgetful(tree)), ()): 1}
    )
    with pytest.raises(AssertionError, match="AssertionError for"):
        fuzz.run("oasst", seconds=30.0)
