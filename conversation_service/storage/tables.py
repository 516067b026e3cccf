"""The conversation service's tables: the kernel's, and those of access beside them."""

from sqlalchemy import Column, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table, UniqueConstraint

from kernel.storage import tables as kernel
from kernel.storage.columns import id_column as _id
from kernel.storage.columns import tenant_column as _tenant
from kernel.storage.columns import text_column as _text
from kernel.storage.columns import time_column as _time

metadata = MetaData(naming_convention=kernel.metadata.naming_convention)
for _table in kernel.metadata.sorted_tables:
    _table.to_metadata(metadata)
# Which engine an index is for is not copied.
for _index in metadata.tables["search_message"].indexes:
    _index.ddl_if(dialect="postgresql")

# The digest alone is kept: who reads the table can call nobody.
api_key = Table(
    "api_key",
    metadata,
    _tenant(),
    _id("key_id"),
    Column("digest", LargeBinary(32), nullable=False),
    Column("principal", String, nullable=False),
    # In all of the tenant's projects; "" where the members of each decide.
    _text("role"),
    # With spaces between.
    _text("scopes"),
    _text("title"),
    _text("created_by"),
    _time("create_time"),
    _time("expire_time", nullable=True),
    _time("revoke_time", nullable=True),
    PrimaryKeyConstraint("tenant_id", "key_id"),
    # Looked up before it is known whose call it is.
    UniqueConstraint("digest", name="api_key_digest_uq"),
)
