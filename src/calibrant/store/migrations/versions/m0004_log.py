"""The audit log is read by time: lines of the journal, and ratings as they came in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add an index to each; no row is touched."""
    first = sa.text("revision = 1")
    op.create_index(
        "ix_rating_handed_in",
        "rating",
        ["study", "submitted_at", "round", "item", "rater", "occasion"],
        sqlite_where=first,
        postgresql_where=first,
    )
    op.create_index("ix_journal_study_at_number", "journal", ["study", "at", "number"])


def downgrade() -> None:
    """A database that has been used is not taken back; its backup is beside it."""
    raise NotImplementedError("restore the backup of the version before")
