"""What a session goes by: its project's configuration, its own over it, and the call's over both."""

from dataclasses import dataclass

from kernel.prompt.config import Config, effective, sources
from kernel.prompt.config_text import override_name
from kernel.verbs.path_store import ContextReads
from kernel.verbs.records import Project, Session

PROJECT, SESSION = "project", "session"
NO_CONFIG = Config()


@dataclass(frozen=True, slots=True)
class Effective:
    """`version` names every layer; `sources` says, by path, which one decides a field."""

    config: Config
    version: str
    sources: dict[str, str]


def of_project(project: Project) -> Effective:
    layers = [(PROJECT, project.config)]
    return Effective(effective(project.config), f"project.{project.version}", sources(layers))


async def of_session(tx: ContextReads, session: Session, overrides: Config = NO_CONFIG) -> Effective:
    project = await tx.project(session.project_id)
    assert project is not None, "a session's project exists (foreign key)"
    layers = [(PROJECT, project.config), (SESSION, session.config), ("call", overrides)]
    version = f"project.{project.version}/session.{session.version}"
    if overrides != NO_CONFIG:
        version += f"/call.{override_name(overrides)}"
    return Effective(effective(*(layer for _, layer in layers)), version, sources(layers))
