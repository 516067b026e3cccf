"""Whether a statement binds the tenant of each table that it touches, by its text.

A table is bound when its `tenant_id` equals a parameter, is written with a value, or equals that of another
source that is bound. Sources that are made in the statement (CTEs, subqueries, arrays) are bound as far as
the tables in them are, each of which is looked at for itself.
"""

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp

Node = tuple[int, str]
ROOT: Node = (0, "")
TENANT = "tenant_id"
_SCOPES = (exp.Select, exp.Update, exp.Delete, exp.Insert)
_VALUES = (exp.Placeholder, exp.Parameter, exp.Literal, exp.Cast)


def unbound(text: str, dialect: str, tenant_tables: frozenset[str]) -> list[str]:
    """The tables that the statement touches without a tenant, by name."""
    # SQLite numbers its parameters, which the parser does not know.
    plain = re.sub(r"\?\d+", "?", text)
    return _Statement(sqlglot.parse_one(plain, dialect=dialect), tenant_tables).unbound()


class _Statement:
    def __init__(self, tree: exp.Expression, tenant_tables: frozenset[str]) -> None:
        self._tree = tree
        self._tables = tenant_tables
        self._made = {cte.alias for cte in tree.find_all(exp.CTE)}
        self._same: dict[Node, Node] = {}
        self._scopes = {id(scope): self._sources(scope) for scope in tree.find_all(*_SCOPES)}

    def unbound(self) -> list[str]:
        for found in self._tree.find_all(exp.EQ, exp.NullSafeEQ):
            self._equal(found.left, found.right)
        for within in self._tree.find_all(exp.In):
            left = within.this
            for column in left.expressions if isinstance(left, exp.Tuple) else [left]:
                if _is_tenant(column):
                    self._join(self._node(column), ROOT)
        for join in self._tree.find_all(exp.Join):
            if any(one.name == TENANT for one in join.args.get("using") or ()):
                scope = self._scope_of(join)
                for alias in self._scopes[id(scope)]:
                    self._join((id(scope), alias), ROOT)
        touched = list(self._touched())
        return sorted({name for node, name in touched if self._found(node) != self._found(ROOT)})

    def _touched(self) -> Iterator[tuple[Node, str]]:
        for scope in self._tree.find_all(*_SCOPES):
            for alias, name in self._scopes[id(scope)].items():
                if name not in self._tables:
                    self._join((id(scope), alias), ROOT)
                elif isinstance(scope, exp.Insert):
                    if alias == "" and not self._writes_tenant(scope):
                        yield (id(scope), alias), name
                else:
                    yield (id(scope), alias), name

    def _sources(self, scope: exp.Expression) -> dict[str, str]:
        """By alias the table's name; "" for what the statement makes itself. An INSERT's target has none."""
        if isinstance(scope, exp.Insert):
            target = scope.this.this if isinstance(scope.this, exp.Schema) else scope.this
            return {"": target.name, "excluded": ""}
        found: dict[str, str] = {}
        direct: list[exp.Expression] = [scope.this] if isinstance(scope, exp.Update | exp.Delete) else []
        clause = scope.args.get("from") or scope.args.get("from_")
        direct += [clause.this] if clause is not None else []
        direct += scope.args.get("using") or [] if isinstance(scope, exp.Delete) else []
        for source in list(direct):
            direct += [join.this for join in source.args.get("joins") or ()]
        direct += [join.this for join in scope.args.get("joins") or ()]
        for source in direct:
            is_table = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
            name = source.name if is_table and source.name not in self._made else ""
            found[source.alias_or_name] = name
        return found

    def _writes_tenant(self, insert: exp.Insert) -> bool:
        columns = insert.this.expressions if isinstance(insert.this, exp.Schema) else []
        return any(column.name == TENANT for column in columns)

    def _equal(self, left: exp.Expression, right: exp.Expression) -> None:
        for one, other in ((left, right), (right, left)):
            if _is_tenant(one):
                if _is_tenant(other):
                    self._join(self._node(one), self._node(other))
                elif isinstance(other, _VALUES):
                    self._join(self._node(one), ROOT)

    def _node(self, column: exp.Expression) -> Node:
        """The source that a column is of, from the nearest scope outwards."""
        alias, at = column.table, column
        while (scope := self._scope_of(at)) is not None:
            sources = self._scopes[id(scope)]
            if alias in sources:
                return id(scope), alias
            if not alias and len(sources) == 1:
                return id(scope), next(iter(sources))
            at = scope
        return -1, alias

    def _scope_of(self, at: exp.Expression) -> exp.Expression | None:
        return at.find_ancestor(*_SCOPES)

    def _found(self, node: Node) -> Node:
        while node in self._same:
            node = self._same[node]
        return node

    def _join(self, one: Node, other: Node) -> None:
        one, other = self._found(one), self._found(other)
        if one != other:
            self._same[one] = other


def _is_tenant(column: exp.Expression) -> bool:
    return isinstance(column, exp.Column) and column.name == TENANT
