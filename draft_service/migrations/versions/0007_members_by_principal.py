"""Members by principal: who asks for a list sees the projects that it is a member of.

Never edited: a change of the schema is a migration of its own.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("member_principal_ix", "member", ["tenant_id", "principal", "project_id"])
