"""All mutants of a file in one source, each behind a switch that is set when the program starts.

"Mutant schemata" (Untch, Offutt and Harrold, ISSTA 1993): a crate is compiled once and not once
for each of its thousands of mutants. In place of an expression stands

    (match crate::mutant_switch::active(&[7, 8]) { 0 => {a + b}, 7 => {a - b}, 8 => {a * b}, … })

with the unchanged one first, from which types are inferred. Only one mutant is ever active, so the
changed arms hold the plain source, and the source grows with the depth of nesting only.

An operator is replaced within its own expression: `a + b * c` gives `a + (b + c)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import tree_sitter
import tree_sitter_rust

from validation.mutants.listing import Mutant

SWITCH = Path(__file__).with_name("switch.rs").read_text()
"""The module that knows which mutant is active; every crate that is changed has it."""
FEATURES = b"#![feature(core_intrinsics, const_eval_select)]\n"
"""What the switch needs of the compiler, so that a `const fn` can ask when it runs."""

Spot = tuple[int, int]
REGION = re.compile(rb"/\*<(\d+)\*/|/\*(\d+)>\*/")
PLAIN = ("macro_invocation", "macro_definition", "attribute_item")
"""Nodes that hold no switch: cargo-mutants leaves macros alone."""
CONSTANT = ("const_item", "static_item")
"""Nodes that cannot ask, but for the closures in them."""
ARRAYS = ("array_type", "array_expression")
"""Nodes whose length is a constant."""
OPERATIONS = ("binary_expression", "compound_assignment_expr")


class Rewriter:
    """One file's tree, with the mutants of each place."""

    def __init__(self, source: bytes, mutants: Iterable[Mutant]) -> None:
        self.source = source
        self.at: dict[Spot, list[Mutant]] = {}
        for mutant in mutants:
            self.at.setdefault(mutant.start, []).append(mutant)
        self.lines = source.split(b"\n")
        self.placed: set[int] = set()
        self.in_const: set[int] = set()
        """Of these, those in a `const fn`: what constants make of them no switch shows."""

    def rewritten(self) -> bytes:
        """The whole source with its switches."""
        language = tree_sitter.Language(tree_sitter_rust.language())
        root = tree_sitter.Parser(language).parse(self.source).root_node
        head, tail = self.source[: root.start_byte], self.source[root.end_byte :]
        return head + self._render(root) + tail

    def _here(self, node: tree_sitter.Node, *genres: str) -> list[Mutant]:
        row, octets = node.start_point
        column = len(self.lines[row][:octets].decode()) + 1
        found = [m for m in self.at.get((row + 1, column), ()) if m.genre in genres]
        self.placed |= {m.number for m in found}
        return found

    def _plain(self, node: tree_sitter.Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def _inner(self, node: tree_sitter.Node) -> bytes:
        """A node's text, its children rewritten."""
        if node.type in PLAIN:
            return self._plain(node)
        if node.type in CONSTANT:
            return self._constant(node)
        length = node.child_by_field_name("length") if node.type in ARRAYS else None
        return self._joined(
            node, lambda child: (self._constant if child == length else self._render)(child)
        )

    def _constant(self, node: tree_sitter.Node) -> bytes:
        """A constant's text, its closures rewritten: they run when they are called."""
        if node.type == "closure_expression":
            return self._inner(node)
        return self._plain(node) if node.type in PLAIN else self._joined(node, self._constant)

    def _joined(self, node: tree_sitter.Node, render: Callable[[tree_sitter.Node], bytes]) -> bytes:
        parts, at = [], node.start_byte
        for child in node.children:
            parts += [self.source[at : child.start_byte], render(child)]
            at = child.end_byte
        return b"".join([*parts, self.source[at : node.end_byte]])

    def _render(self, node: tree_sitter.Node) -> bytes:
        match node.type:
            case kind if kind in OPERATIONS:
                return self._operation(node)
            case "unary_expression":
                return self._unary(node)
            case "match_arm":
                return self._arm(node)
            case "match_pattern":
                return self._guard(node)
            case "function_item":
                return self._function(node)
            case "field_initializer" | "shorthand_field_initializer":
                return self._field(node)
        return self._inner(node)

    def _switch(self, changed: list[tuple[Mutant, bytes]], inner: bytes) -> bytes:
        numbers = b", ".join(b"%d" % mutant.number for mutant, _ in changed)
        arms = b"".join(
            b"%d => {/*<%d*/%s/*%d>*/}, " % (m.number, m.number, text, m.number)
            for m, text in changed
        )
        # The unchanged expression first: it says which type is meant.
        return (
            b"(match crate::mutant_switch::active(&[%s]) { 0 => {%s}, %s_ => unreachable!() })"
            % (numbers, inner, arms)
        )

    def _operation(self, node: tree_sitter.Node) -> bytes:
        left, operator, right = (
            node.child_by_field_name(name) for name in ("left", "operator", "right")
        )
        assert left and operator and right
        inner = self._inner(node)
        changed = [
            (m, b"%s %s %s" % (self._plain(left), m.replacement.encode(), self._plain(right)))
            for m in self._here(operator, "BinaryOperator")
        ]
        return self._switch(changed, inner) if changed else inner

    def _unary(self, node: tree_sitter.Node) -> bytes:
        changed = [(m, self._plain(node.children[1])) for m in self._here(node, "UnaryOperator")]
        inner = self._inner(node)
        return self._switch(changed, inner) if changed else inner

    def _arm(self, node: tree_sitter.Node) -> bytes:
        """A deleted arm is one that never matches."""
        deleted = self._here(node, "MatchArm")
        text = self._inner(node)
        if not deleted:
            return text
        pattern = node.child_by_field_name("pattern")
        assert pattern
        rendered = self._render(pattern)
        rest = text[len(rendered) :] if text.startswith(rendered) else None
        assert rest is not None, "an arm begins with its pattern"
        condition = pattern.child_by_field_name("condition")
        never = b"crate::mutant_switch::active(&[%d]) == 0" % deleted[0].number
        if condition is None:
            return rendered + b" if " + never + rest
        requested = self._condition(condition)
        head = rendered[: len(rendered) - len(requested)]
        return head + never + b" && (" + requested + b")" + rest

    def _guard(self, node: tree_sitter.Node) -> bytes:
        condition = node.child_by_field_name("condition")
        if condition is None:
            return self._inner(node)
        head = self.source[node.start_byte : condition.start_byte]
        return head + self._condition(condition)

    def _condition(self, condition: tree_sitter.Node) -> bytes:
        changed = [(m, m.replacement.encode()) for m in self._here(condition, "MatchArmGuard")]
        inner = self._render(condition)
        return self._switch(changed, inner) if changed else inner

    def _function(self, node: tree_sitter.Node) -> bytes:
        """Returns the replacement before the body begins."""
        body = node.child_by_field_name("body")
        before = set(self.placed)
        inner = self._inner(node)
        if body is None or not body.named_children:
            return inner
        first = next((c for c in body.children[1:] if c.type != "line_comment"), body.children[-1])
        given = node.child_by_field_name("return_type")
        # Two values of `impl Trait` have two types.
        hidden = given is not None and b"impl " in self._plain(given)
        changed = [] if hidden else self._here(first, "FnValue")
        if changed:
            opening = self.source[node.start_byte : body.start_byte + 1]
            arms = b"".join(
                b"%d => {/*<%d*/return %s/*%d>*/}, "
                % (m.number, m.number, m.replacement.encode(), m.number)
                for m in changed
            )
            numbers = b", ".join(b"%d" % m.number for m in changed)
            ask = b" match crate::mutant_switch::active(&[%s]) { %s_ => {} } " % (numbers, arms)
            inner = opening + ask + inner[len(opening) :]
        if _is_const(node):
            self.in_const |= self.placed - before
        return inner

    def _field(self, node: tree_sitter.Node) -> bytes:
        """A deleted field takes the value that the struct's base has."""
        deleted = self._here(node, "StructField")
        if not deleted:
            return self._inner(node)
        whole = node.parent.parent if node.parent else None
        assert whole and node.parent
        base = next(c for c in node.parent.children if c.type == "base_field_initializer")
        of, name = self._plain(base.children[1]), whole.child_by_field_name("name")
        assert name
        field = self._plain(node.child_by_field_name("field") or node.children[0])
        value = node.child_by_field_name("value")
        inner = self._render(value) if value else field
        if base.children[1].type not in ("identifier", "self", "field_expression"):
            of = b"{ let base: %s = %s; base }" % (self._plain(name), of)
        return field + b": " + self._switch([(deleted[0], of + b"." + field)], inner)


def _is_const(node: tree_sitter.Node) -> bool:
    return any(
        part.type == "const"
        for child in node.children
        if child.type == "function_modifiers"
        for part in child.children
    )


def regions(text: bytes) -> list[tuple[int, int, int]]:
    """Where each mutant's changed source stands: first byte, last byte, number."""
    begun: dict[int, int] = {}
    found = []
    for mark in REGION.finditer(text):
        if mark[1]:
            begun[int(mark[1])] = mark.start()
        else:
            found.append((begun[int(mark[2])], mark.end(), int(mark[2])))
    return found
