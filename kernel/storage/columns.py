"""What all tables are made of."""

from sqlalchemy import BigInteger, Column, Integer, String

from kernel.storage.types import Id, Time


def tenant_column() -> Column[str]:
    return Column("tenant_id", String, nullable=False)


def id_column(name: str, nullable: bool = False) -> Column[str]:
    return Column(name, Id, nullable=nullable)


def text_column(name: str) -> Column[str]:
    return Column(name, String, nullable=False, server_default="")


def int_column(name: str, nullable: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=nullable)


def big_column(name: str, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def time_column(name: str, nullable: bool = False) -> Column[object]:
    return Column(name, Time, nullable=nullable)
