"""One storage implementation on two engines: SQLite and PostgreSQL."""
