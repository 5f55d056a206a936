# SPDX-License-Identifier: MIT
"""Patterns of nodes, in the language of poprt/plugin.h: chains "OpType:label->OpType:label"."""

from collections import namedtuple

Match = namedtuple("Match", "node index")
Match.__doc__ = "A node of a match, and its index in the list of nodes of the graph."


class PatternMatcher:
    """Finds the matches of a pattern in a graph.

    ``pattern`` is a list of chains. A token ``OpType:label`` is a node; equal tokens are the same
    node. ``s:label`` stands for any producer, ``e:label`` for any consumer. An arrow means that an
    output of the left node is an input of the right one.
    """

    def __init__(self, pattern):
        chains = [pattern] if isinstance(pattern, str) else list(pattern)
        self._types = {}   # label -> operator
        self._edges = []   # pairs of labels
        for chain in chains:
            self._read(chain)
        if not self._types:
            raise ValueError("a pattern needs at least one node, such as 'MatMul:1'")
        self._order = self._visit()
        self._seen = set()

    def _read(self, chain):
        before = None
        for word in chain.split("->"):
            kind, colon, label = word.strip().partition(":")
            kind, label = kind.strip(), label.strip()
            if not (kind and colon and label):
                raise ValueError(f"{chain!r}: {word.strip()!r} is not a token; expected "
                                 "OpType:label, s:label or e:label")
            if kind in ("s", "e"):
                before = None
                continue
            if self._types.setdefault(label, kind) != kind:
                raise ValueError(f"{chain!r}: label {label!r} is both {self._types[label]} and "
                                 f"{kind}")
            if before is not None and (before, label) not in self._edges:
                self._edges.append((before, label))
            before = label

    def _visit(self):
        """Labels in an order in which each one, if possible, is next to an earlier one."""
        order, left = [], list(self._types)
        while left:
            near = [label for label in left
                    if any((label in edge) and (set(edge) - {label}) & set(order)
                           for edge in self._edges)]
            label = (near or left)[0]
            order.append(label)
            left.remove(label)
        return order

    def next_pattern(self, graph):
        """Returns the next match: a dict of labels and objects with ``node`` and ``index``; None if
        there is no other. The graph may be changed between calls; a match that was returned is not
        returned again."""
        nodes = list(graph.node)
        by_type, maker, readers = {}, {}, {}
        for i, node in enumerate(nodes):
            by_type.setdefault(node.op_type, []).append(i)
            for name in node.output:
                maker[name] = i
            for name in node.input:
                readers.setdefault(name, []).append(i)
        for found in self._search({}, nodes, by_type, maker, readers):
            key = tuple((label, nodes[i].op_type, nodes[i].name, tuple(nodes[i].output))
                        for label, i in sorted(found.items()))
            if key not in self._seen:
                self._seen.add(key)
                return {label: Match(nodes[i], i) for label, i in found.items()}
        return None

    def _candidates(self, label, found, nodes, by_type, maker, readers):
        result = None
        for left, right in self._edges:
            if left == label and right in found:
                near = {maker[name] for name in nodes[found[right]].input if name in maker}
            elif right == label and left in found:
                near = {i for name in nodes[found[left]].output if name
                        for i in readers.get(name, ())}
            else:
                continue
            result = near if result is None else result & near
        same = by_type.get(self._types[label], ())
        return [i for i in same if (result is None or i in result) and i not in found.values()]

    def _search(self, found, *graph):
        if len(found) == len(self._order):
            yield dict(found)
            return
        label = self._order[len(found)]
        for i in self._candidates(label, found, *graph):
            found[label] = i
            yield from self._search(found, *graph)
            del found[label]
