"""Projects with configuration and members, configuration versions, archiving, erasure.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _project()
    _member()
    _config_version()
    _session()
    _tombstone()
    _request()
    _indexes_for_erasure()


def _project() -> None:
    op.add_column("project", sa.Column("config", sa.String(), server_default="", nullable=False))
    op.create_index("project_create_time_ix", "project", ["tenant_id", "create_time", "project_id"])


def _member() -> None:
    op.create_table(
        "member",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["project.tenant_id", "project.project_id"],
            name=op.f("member_project_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", "principal", name=op.f("member_pk")),
    )


def _config_version() -> None:
    op.create_table(
        "config_version",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("target_id", Id(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("config", sa.String(), server_default="", nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("restored_from", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "target_id", "version", name=op.f("config_version_pk")),
    )
    # What is there already is its own first version.
    for table in ("project", "session"):
        op.execute(
            "INSERT INTO config_version"
            " (tenant_id, target_id, version, title, config, create_time, restored_from)"
            f" SELECT tenant_id, {table}_id, version, title, config, update_time, 0 FROM {table}"
        )


def _session() -> None:
    op.add_column(
        "session",
        sa.Column("project_archived", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def _tombstone() -> None:
    op.create_table(
        "tombstone",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("delete_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name=op.f("tombstone_pk")),
    )


def _request() -> None:
    op.add_column("request", sa.Column("words_of", Id(), nullable=True))
    op.create_index(
        "request_words_ix",
        "request",
        ["tenant_id", "words_of"],
        sqlite_where=sa.text("words_of IS NOT NULL"),
        postgresql_where=sa.text("words_of IS NOT NULL"),
    )


def _indexes_for_erasure() -> None:
    op.create_index("floor_parent_ix", "floor", ["tenant_id", "session_id", "parent_segment", "parent_depth"])
    op.create_index("effects_floor_ix", "effects", ["tenant_id", "floor_id"])
    op.create_index("page_floor_ix", "page", ["tenant_id", "floor_id"])
    op.create_index("branch_head_ix", "branch", ["tenant_id", "head_floor_id"])
    op.create_index("run_floor_ix", "run", ["tenant_id", "floor_id"])
