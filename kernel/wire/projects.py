"""Projects and versions of configuration as the contract shows them."""

from stemma.kernel.v1 import config_pb2, project_pb2, session_pb2

from kernel.verbs.records import ConfigVersion, Project, SessionState
from kernel.wire.config import config_pb
from kernel.wire.trees import time_pb


def session_states() -> dict[int, SessionState]:
    """By the contract's numbers; 0 is none."""
    return {
        session_pb2.SESSION_STATE_ACTIVE: SessionState.ACTIVE,
        session_pb2.SESSION_STATE_ARCHIVED: SessionState.ARCHIVED,
    }


def project_pb(project: Project) -> project_pb2.Project:
    return project_pb2.Project(
        project_id=project.project_id,
        title=project.title,
        state=f"SESSION_STATE_{project.state.name}",
        config=config_pb(project.config),
        version=project.version,
        create_time=time_pb(project.create_time),
        update_time=time_pb(project.update_time),
    )


def config_version_pb(version: ConfigVersion) -> config_pb2.ConfigVersion:
    return config_pb2.ConfigVersion(
        version=version.version,
        config=config_pb(version.config),
        title=version.title,
        principal=version.principal,
        create_time=time_pb(version.create_time),
        restored_from=version.restored_from,
    )
