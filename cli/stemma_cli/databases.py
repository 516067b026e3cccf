"""What a database says when it cannot be used, as whoever typed the command is told it."""

from collections.abc import Iterator
from contextlib import contextmanager

from stemma_cli.errors import CliError, UsageError


@contextmanager
def told(name: str, option: str) -> Iterator[None]:
    """`name` begins the sentences, as in "The draft database"; `option` is where its URL came from. Raises
    CliError, UsageError."""
    from asyncpg import PostgresError
    from sqlalchemy.exc import ArgumentError, DBAPIError

    from kernel.errors import StemmaError, Unavailable
    from kernel.storage.failures import Refused

    try:
        yield
    except ArgumentError:
        raise UsageError(f"{option} is not a URL: postgresql://… or sqlite:///path/to/file.db.") from None
    except Unavailable:
        raise CliError(f"{name} cannot be reached: is it running, and is the URL right?") from None
    except StemmaError as error:
        raise CliError(error.message) from None
    except (DBAPIError, PostgresError, Refused) as error:
        raise CliError(f"{name} was not changed, it says: {_driver_words(error)}.") from None
    except OSError as error:
        raise CliError(f"{name} cannot be opened: {error.strerror or type(error).__name__}.") from None


def _driver_words(error: BaseException) -> str:
    """The driver's own first line: whoever has the database's URL may read it."""
    known = error.__context__ or error
    original = getattr(known, "orig", None) or known
    return str(original.__cause__ or original).splitlines()[0]
