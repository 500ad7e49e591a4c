"""Tokens say whether they look after accounts; those there are do not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; no row of a study is touched."""
    column = sa.Column("administers", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("token", column)


def downgrade() -> None:
    """A database that has been used is not taken back; its backup is beside it."""
    raise NotImplementedError("restore the backup of the version before")
