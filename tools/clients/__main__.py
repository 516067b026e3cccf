"""`python -m tools.clients [NAME…]` makes the clients that are not made yet, or whose sources changed.

Stubs go to clients/NAME/gen, what is compiled beside them; none of it is committed. What it was made from is
remembered in .cache/clients: the second time, nothing is done. Exit status 1 when a toolchain is missing or a
compiler refuses.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.clients.descriptors import described
from tools.clients.languages import CACHE, LANGUAGES, ROOT, ClientError, Contract, Language
from tools.files import project_files

SOURCE = ROOT / "protos" / "gen" / "stemma" / "descriptors.binpb"


def _digest(language: Language, contract: Contract) -> str:
    """Of everything that it is made from, the compilers' versions aside."""
    digest = hashlib.sha256(contract.path.read_bytes())
    # The types for browsers come from the gateway's document.
    folders = [language.home, ROOT / "tools" / "clients", ROOT / "gateway"]
    if language.name != "web":
        folders.pop()
    for folder in folders:
        for path in project_files(ROOT, str(folder.relative_to(ROOT))):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _written(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _renew(fresh: Path, target: Path) -> None:
    """Makes `target` what `fresh` is, touching only what differs: compilers look at times."""
    for name in {*_written(target)} - {*_written(fresh)}:
        (target / name).unlink()
    for name in _written(fresh):
        content = (fresh / name).read_bytes()
        place = target / name
        if not place.exists() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def make(language: Language, contract: Contract) -> str:
    """Makes one client; what was done, in words. Raises ClientError."""
    if absent := language.missing():
        raise ClientError(
            f"not made: {', '.join(absent)} is missing. `tools/need_clients.sh` installs what the clients "
            "are made with (as root, on Debian), and says otherwise what to install."
        )
    stamp, digest = CACHE / f"{language.name}.digest", _digest(language, contract)
    made = all((language.home / name).exists() for name in language.makes)
    if made and stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return "as it was"
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        language.stubs(contract, Path(folder))
        _renew(Path(folder), language.home / "gen")
    language.build()
    stamp.write_text(digest, encoding="utf-8")
    return f"made in {time.monotonic() - started:.0f} s"


def main(names: Sequence[str]) -> int:
    known = {language.name: language for language in LANGUAGES}
    if unknown := [name for name in names if name not in known]:
        print(f"no such client: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    CACHE.mkdir(parents=True, exist_ok=True)
    contract = Contract(CACHE / "contract.binpb")
    contract.path.write_bytes(described(SOURCE).SerializeToString(deterministic=True))
    failed = False
    with ThreadPoolExecutor(max_workers=2) as pool:
        made = {name: pool.submit(make, known[name], contract) for name in names or known}
        for name, future in made.items():
            try:
                print(f"clients: {name:5} {future.result()}", flush=True)
            except ClientError as error:
                print(f"clients: {name:5} {error}", file=sys.stderr, flush=True)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
