"""A change of title and configuration, the same for projects and sessions."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernel.errors import Aborted, invalid
from kernel.prompt.config import Config, patched, size
from kernel.verbs.env import Env
from kernel.verbs.records import ConfigVersion, Project, Session

MAX_CONFIG_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """What an update's mask names. `title` is None where it is not among it; of `config` the paths count, ""
    for all of it. `expected_version` 0 is any."""

    title: str | None
    config: Config
    paths: Sequence[str]
    expected_version: int


def expect_version(current: Project | Session, expected: int) -> None:
    if expected not in (0, current.version):
        raise Aborted(
            "VERSION_MOVED",
            "The version is not the expected one. Read it, decide, and retry.",
            {"current_version": str(current.version)},
        )


def applied(current: Project | Session, change: Change) -> tuple[str, Config]:
    """Title and configuration after the change."""
    config = checked_size(patched(current.config, change.config, change.paths))
    return current.title if change.title is None else change.title, config


def checked_size(config: Config) -> Config:
    if size(config) > MAX_CONFIG_BYTES:
        raise invalid("config", "is at most 1 MiB together")
    return config


def version_of(
    env: Env, target_id: str, now: Project | Session, principal: str, restored_from: int = 0
) -> ConfigVersion:
    """The record of a layer as it stands now."""
    return ConfigVersion(target_id, now.version, now.title, now.config, principal, env.clock(), restored_from)
