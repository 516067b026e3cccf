"""What a driver says when the database is away becomes UNAVAILABLE, whatever class it has."""

import asyncpg
import pytest

from kernel.errors import Unavailable
from kernel.storage.failures import translated


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(),
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
        asyncpg.CannotConnectNowError("the database system is starting up"),
        # Seen when every process of the server was killed under load.
        asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_database_that_went_away_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable), translated():
        raise error
