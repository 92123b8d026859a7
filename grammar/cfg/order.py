"""Graphs of names: reachability and recursion.

Does: strongly connected components, callees first. Does not: know grammars.
"""

from collections.abc import Iterable, Mapping


def reachable(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    """The names reachable from `start`, itself included."""
    seen, stack = {start}, [start]
    while stack:
        for name in edges[stack.pop()]:
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return seen


def components(edges: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Strongly connected components, each after all components it leads to (Tarjan 1972, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    place: dict[str, int] = {}  # on the path
    open_: set[str] = set()
    found: list[tuple[str, ...]] = []
    for root in edges:
        if root in number:
            continue
        work = [(root, iter(edges[root]))]
        number[root] = low[root] = len(number)
        place[root] = len(path)
        path.append(root)
        open_.add(root)
        while work:
            name, rest = work[-1]
            step = next((n for n in rest if n not in number or n in open_), None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    cut = place[name]
                    found.append(tuple(path[cut:]))
                    open_.difference_update(path[cut:])
                    del path[cut:]
            elif step in number:
                low[name] = min(low[name], number[step])
            else:
                number[step] = low[step] = len(number)
                place[step] = len(path)
                path.append(step)
                open_.add(step)
                work.append((step, iter(edges[step])))
    return found
