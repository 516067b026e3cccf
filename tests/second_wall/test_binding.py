"""What judges statements is itself judged: a tenant that is left out is seen, wherever it is."""

import pytest

from tests.second_wall.binding import unbound

TABLES = frozenset({"floor", "session", "request"})

CASES = [
    ("SELECT * FROM floor WHERE floor.tenant_id = $1 AND floor.floor_id = $2", []),
    ("SELECT * FROM floor WHERE floor.floor_id = $2", ["floor"]),
    ("SELECT * FROM floor WHERE floor.tenant_id = floor.tenant_id", ["floor"]),
    ("SELECT * FROM floor f JOIN session s ON s.tenant_id = f.tenant_id WHERE f.tenant_id = $1", []),
    (
        "SELECT * FROM floor f JOIN session s ON s.session_id = f.session_id WHERE f.tenant_id = $1",
        ["session"],
    ),
    (
        "SELECT * FROM session WHERE tenant_id = $1 AND EXISTS (SELECT 1 FROM floor f WHERE f.floor_id = $2)",
        ["floor"],
    ),
    (
        "SELECT * FROM session s WHERE s.tenant_id = $1 AND EXISTS"
        " (SELECT 1 FROM floor f WHERE f.tenant_id = s.tenant_id)",
        [],
    ),
    ("WITH x AS (SELECT * FROM floor WHERE floor_id = $1) SELECT * FROM x", ["floor"]),
    ("UPDATE floor SET depth = 1 WHERE floor_id = $1", ["floor"]),
    ("UPDATE floor SET tenant_id = $1 WHERE tenant_id = $2", []),
    ("DELETE FROM request WHERE request_id = $1", ["request"]),
    ("DELETE FROM request WHERE (tenant_id, request_id) IN (($1, $2))", []),
    ("INSERT INTO floor (tenant_id, floor_id) VALUES ($1, $2)", []),
    ("INSERT INTO floor (floor_id) VALUES ($1)", ["floor"]),
    ("INSERT INTO floor (tenant_id, floor_id) SELECT $1, r.request_id FROM request r", ["request"]),
]


@pytest.mark.parametrize(("text", "found"), CASES)
def test_what_is_left_out_is_seen(text: str, found: list[str]) -> None:
    assert unbound(text, "postgres", TABLES) == found
