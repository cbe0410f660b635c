"""Subscripts by what a thread and its loops count, wherever the source holds them in variables of its own.

``while (k < n) { s += x[k]; k++; }`` reads what ``for (int k = 0; k < n; k++) s += x[k];`` does, and so does an index
that runs beside the variable of a loop. Here scalars that are affine forms of the variables of the grid and of loops
are substituted in subscripts, a scalar that each round of a loop changes by the same amount is one of its variable (an
induction variable), and a ``while`` that such a scalar ends is a counting loop (Aho, Lam, Sethi, Ullman, Compilers,
2nd edition, sections 9.1.8 and 9.8).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dse.gpu.kernel.plan import Access, Branch, Loop, Node, Plan, Store, WhileLoop, sub_nodes
from dse.gpu.kernel.steering import integer_constants
from dse.passes.analyses.affine import Affine, affine
from dse.program.ir import Binary, BinaryOp, Const, Expr, Load, Variable
from dse.program.types import INT32, IntType
from dse.program.walk import sub_expressions

_LEAST_BITS = 32
"""A scalar of fewer bits wraps too soon to be taken for a number."""
_DEEPEST = 6
"""Loops inside each other that are looked at for what all their rounds change together."""
_MIRRORED: dict[BinaryOp, BinaryOp] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_Forms = dict[str, Affine]
"""Scalars by name as affine forms of steady names: variables of the grid and of loops around, parameters."""


def with_running_indices(nodes: Iterable[Node], plan: Plan) -> tuple[Node, ...]:
    """Return nodes whose subscripts are forms of what is counted, where they are any. Costs stay where they are."""
    parallel = {p.variable.name for p in plan.kernel.parallel}
    constants = integer_constants(plan)
    return _Substitution(steady=parallel | set(constants), constants=constants).block(nodes, {})


@dataclass(slots=True)
class _Substitution:
    """Walks nodes in the order of execution with the forms of scalars there."""

    steady: set[str]
    constants: dict[str, int]

    def block(self, nodes: Iterable[Node], forms: _Forms) -> tuple[Node, ...]:
        """Return the nodes with forms in their subscripts; ``forms`` is then what holds behind them."""
        found: list[Node] = []
        for node in nodes:
            match node:
                case Access():
                    found.append(replace(node, indices=tuple(self._substituted(e, forms) for e in node.indices)))
                case Store(indices=()):
                    self._store(node, forms)
                    found.append(node)
                case Branch():
                    found.append(self._branch(node, forms))
                case Loop():
                    found += self._loop(node, forms)
                case WhileLoop():
                    found += self._while(node, forms)
                case _:
                    found.append(node)
        return tuple(found)

    def form(self, expression: Expr, forms: _Forms) -> Affine | None:
        """Return an expression as a form of steady names, None if it is none."""
        found = affine(expression)
        if found is None:
            return None
        total = Affine(found.constant, ())
        for name, factor in found.terms:
            one = forms.get(name) or (Affine(0, ((name, 1),)) if name in self.steady else None)
            if one is None:
                return None
            total = total.plus(one.scaled(factor))
        return total

    def _substituted(self, index: Expr, forms: _Forms) -> Expr:
        if not any(isinstance(part, Load) and part.name in forms for part in sub_expressions(index)):
            return index
        found = self.form(index, forms)
        return index if found is None else _expression(found)

    def _store(self, store: Store, forms: _Forms) -> None:
        value = None if store.value is None else self.form(store.value, forms)
        if value is None or not isinstance(store.type, IntType) or store.type.container_bits < _LEAST_BITS:
            forms.pop(store.name, None)
        else:
            forms[store.name] = value

    def _branch(self, branch: Branch, forms: _Forms) -> Branch:
        first, second = dict(forms), dict(forms)
        then, otherwise = self.block(branch.then, first), self.block(branch.otherwise, second)
        forms.clear()
        forms.update({name: form for name, form in first.items() if second.get(name) == form})
        return replace(branch, then=then, otherwise=otherwise)

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, loop: Loop, forms: _Forms) -> list[Node]:
        """Return a loop in which the scalars that run with it are known at the begin of a round."""
        low, high = self.form(loop.low, forms), self.form(loop.high, forms)
        steps = self._steps(loop.body, forms, (loop.variable.name,))
        inside = self._without_changed(loop.body, forms)
        running = self._running(loop, steps, forms)
        behind: _Forms = {}
        if low is not None and high is not None and abs(loop.step) == 1:
            trips = high.plus(low.scaled(-1)).scaled(loop.step).plus(Affine(1, ()))
            trips = trips if trips.terms else Affine(max(0, trips.constant), ())
            behind = {name: forms[name].plus(trips.scaled(steps[name])) for name in running}
        return self._with_body(loop, inside, running, forms, behind)

    def _running(self, loop: Loop, steps: dict[str, int], forms: _Forms) -> _Forms:
        """Return what scalars are when a round begins, by the variable of their loop; ``forms``: before the loop."""
        low = self.form(loop.low, forms)
        if low is None:
            return {}
        counted = Affine(0, ((loop.variable.name, 1),)).plus(low.scaled(-1))
        return {
            name: forms[name].plus(counted.scaled(step // loop.step))
            for name, step in steps.items()
            if name in forms and step % loop.step == 0
        }

    def _with_body(self, loop: Loop, inside: _Forms, running: _Forms, forms: _Forms, behind: _Forms) -> list[Node]:
        """Return a loop with what is known in its rounds, and what is behind it; ``forms`` is then what holds there."""
        of, low = _types(loop.body), self._substituted(loop.low, forms)
        forms.clear()
        forms.update(inside)
        inside.update(running)
        before = self.steady
        self.steady = before | {loop.variable.name}
        body = self.block(loop.body, inside)
        self.steady = before
        forms.update(behind)
        return [
            replace(loop, low=low, body=(*(_known(n, f, of[n], loop) for n, f in running.items()), *body)),
            *(_known(n, f, of[n], loop) for n, f in behind.items()),
        ]

    def _while(self, loop: WhileLoop, forms: _Forms) -> list[Node]:
        """Return a ``while`` that a running scalar ends as a counting loop, any other one as it is."""
        steps = self._steps(loop.body, forms, ())
        inside = self._without_changed(loop.body, forms)
        counted = None if any(isinstance(n, Access) for n in loop.test) else self._counted(loop, steps, forms, inside)
        if counted is not None:
            own = {counted.variable.source_name: Affine(0, ((counted.variable.name, 1),))}
            return self._with_body(counted, inside, self._running(counted, steps, forms) | own, forms, {})
        forms.clear()
        forms.update(inside)
        test = self.block(loop.test, dict(inside))
        return [replace(loop, test=test, body=self.block(loop.body, inside))]

    def _counted(self, loop: WhileLoop, steps: dict[str, int], forms: _Forms, inside: _Forms) -> Loop | None:
        """Return a ``while`` as a loop from what its scalar is before it; None if none ends it."""
        found = _bound(loop.condition, steps)
        if found is None:
            return None
        name, op, bound = found
        form, step = self.form(bound, inside), steps[name]
        ends = {"<": step > 0, "<=": step > 0, ">": step < 0, ">=": step < 0, "!=": abs(step) == 1}
        if form is None or not ends[op]:
            return None
        last = form.plus(Affine(0 if op in ("<=", ">=") else -1 if step > 0 else 1, ()))
        low = _expression(forms[name]) if name in forms else Load(name, INT32)
        variable = Variable(f"{name}@{loop.control}", name, _types(loop.body)[name], "loop", None, loop.span)
        body = (*loop.test, *loop.body)
        return Loop(loop.control, variable, low, _expression(last), step, body, loop.innermost, loop.span)

    def _without_changed(self, nodes: Iterable[Node], forms: _Forms) -> _Forms:
        """Return the forms without those of scalars that nodes change."""
        changed = {node.name for node in sub_nodes(nodes) if isinstance(node, Store)}
        return {name: form for name, form in forms.items() if name not in changed}

    def _steps(self, body: tuple[Node, ...], forms: _Forms, counted: tuple[str, ...]) -> dict[str, int]:
        """Return what a round of a loop adds to each scalar, for those to which each adds the same."""
        entry = {n.name: f"{n.name}@" for n in sub_nodes(body) if isinstance(n, Store) and _runs(n)}
        if not entry or _depth(body) > _DEEPEST:
            return {}
        trial = _Substitution(steady=self.steady | set(entry.values()) | set(counted), constants=self.constants)
        found = self._without_changed(body, forms) | {n: Affine(0, ((e, 1),)) for n, e in entry.items()}
        trial.block(body, found)
        steps = {name: self._added(found.get(name), symbol) for name, symbol in entry.items()}
        return {name: step for name, step in steps.items() if step}

    def _added(self, form: Affine | None, symbol: str) -> int:
        """Return what a form has more than a symbol, 0 where that is not the same in each round."""
        if form is None:
            return 0
        added = form.plus(Affine(0, ((symbol, -1),)))
        known = all(name in self.constants for name, _ in added.terms)
        return added.constant + sum(f * self.constants[name] for name, f in added.terms) if known else 0


def _runs(store: Store) -> bool:
    """Whether a store adds to its own scalar."""
    form = None if store.indices or store.value is None else affine(store.value)
    return form is not None and dict(form.terms).get(store.name) == 1


def _depth(nodes: Iterable[Node]) -> int:
    """Return how many loops stand inside each other."""
    deepest = 0
    for node in nodes:
        match node:
            case Loop() | WhileLoop():
                deepest = max(deepest, 1 + _depth(node.body))
            case Branch():
                deepest = max(deepest, _depth(node.then), _depth(node.otherwise))
            case _:
                pass
    return deepest


def _bound(condition: Expr, steps: dict[str, int]) -> tuple[str, BinaryOp, Expr] | None:
    """Return the running scalar of a condition, its comparison and its bound."""
    match condition:
        case Binary(op="<" | "<=" | ">" | ">=" | "!=" as op, left=Load(name=name), right=right) if name in steps:
            return name, op, right
        case Binary(op="<" | "<=" | ">" | ">=" | "!=" as op, left=left, right=Load(name=name)) if name in steps:
            return name, _MIRRORED[op], left
        case _:
            return None


def _types(nodes: Iterable[Node]) -> dict[str, IntType]:
    """Return the types of the integer scalars that nodes change."""
    return {n.name: n.type for n in sub_nodes(nodes) if isinstance(n, Store) and isinstance(n.type, IntType)}


def _known(name: str, form: Affine, of: IntType, loop: Loop) -> Store:
    """Return what tells the value of a scalar, which no instruction gives it."""
    return Store(name, (), _expression(form), of, loop.span, is_instruction=False)


def _expression(form: Affine) -> Expr:
    """Return a form as an expression."""
    total: Expr | None = None
    for name, factor in form.terms:
        term: Expr = Load(name, INT32)
        if factor != 1:
            term = Binary("*", Const(factor, INT32), term, INT32)
        total = term if total is None else Binary("+", total, term, INT32)
    if total is None or form.constant:
        constant = Const(form.constant, INT32)
        total = constant if total is None else Binary("+", total, constant, INT32)
    return total
