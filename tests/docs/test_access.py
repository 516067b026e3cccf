"""Who may do what, as README says it: with access on, and the key that a first start shows."""

from pathlib import Path

from tests.docs.scenes import ROOT, addresses, blocks, here, run, started


async def test_who_may_do_what(tmp_path: Path) -> None:
    (script,) = [text for kind, text in blocks("README.md") if kind == "bash" and "keys create" in text]
    script = script.replace(".venv/bin/stemma", f"{ROOT}/.venv/bin/stemma")
    async with started(tmp_path, STEMMA_AUTH="on") as up:
        key = (await up.line(r"^  export STEMMA_API_KEY=(\S+)$"))[1]
        address = addresses(up)["conversation_service"]
        out = await run(
            *("bash", "-euo", "pipefail", "-c", here(script, up)),
            STEMMA_API_KEY=key,
            STEMMA_CONVERSATION=address,
        )
    *codes, denied, head = out.splitlines()
    assert codes == ["404", "200", "403", "401"]
    assert "It says 404, 200, 403 and 401" in (ROOT / "README.md").read_text()
    assert "ArchiveSession" in denied
    assert "PERMISSION_DENIED" in denied
    assert head.startswith("The chain's head is ")
