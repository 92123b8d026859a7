"""The scalars of a value, by JSON Pointer and by record."""

from intaglio.service.grounding.data_leaves import records


def test_scalars_are_grouped_by_object_and_item() -> None:
    data = {"a": 1, "b": {"c": "x", "d/e~": None}, "f": [{"g": True}, "s", [2]], "h": []}
    root, scalars = records(data)
    assert list(scalars.items()) == [
        ("/a", 1),
        ("/b/c", "x"),
        ("/b/d~1e~0", None),
        ("/f/0/g", True),
        ("/f/1", "s"),
        ("/f/2/0", 2),
    ]
    assert root.leaves == ["/a", "/b/c", "/b/d~1e~0"]
    (items, nothing) = root.arrays
    assert [item.leaves for item in items] == [["/f/0/g"], ["/f/1"], []]
    assert items[2].arrays[0][0].leaves == ["/f/2/0"]
    assert nothing == []


def test_a_scalar_is_its_own_leaf() -> None:
    assert records("x")[1] == {"": "x"}


def test_depth_is_no_limit() -> None:
    data: object = 1
    for _ in range(5000):
        data = [{"a": data}]
    _, scalars = records(data)
    assert list(scalars.values()) == [1]
