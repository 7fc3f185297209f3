"""Frozen dataclasses as plain JSON values and back, checked against their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
_ABSENT: tuple = (None, [], {})
_MANY = (list, tuple, set, frozenset)
_WORDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
}


def to_plain(value: Any) -> Any:
    """A value of a field as JSON has it, absent members left out."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        names = value.__dataclass_fields__
        plain = {name: to_plain(getattr(value, name)) for name in names}
        return {name: item for name, item in plain.items() if item not in _ABSENT}
    return value


def from_plain(kind: type[T], data: Any, name: str = "") -> T:
    """The dataclass that `to_plain` wrote; None is absent.

    name (str): The field the data stands in, for messages; "" for the whole record.
    RAISES (ValueError): an unknown or lacking field, or a value of the wrong kind.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{_path(name)} is not an object: {_shown(data)}")
    known, required = _fields(kind)  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in data.items():
        if value is None:
            continue
        if key not in known:
            raise ValueError(f"unknown {_path(name, key)}")
        types, make = known[key]
        if type(value) not in types:
            wanted = _WORDS.get(types[0], "an object")
            raise ValueError(f"{_path(name, key)} is not {wanted}: {_shown(value)}")
        values[key] = value if make is None else make(value)
    for key in required:
        if key not in values:
            raise ValueError(f"{_path(name, key)} is absent")
    return kind(**values)


@cache
def _fields(kind: type) -> tuple[dict[str, tuple], tuple[str, ...]]:
    """name -> (types of the plain value, what makes the field of it; None for itself);
    and the names of the fields that must be there."""
    known = {name: _field(name, hint) for name, hint in get_type_hints(kind).items()}
    required = tuple(f.name for f in fields(kind) if f.default is MISSING)
    return known, required


def _field(name: str, hint: Any) -> tuple[tuple[type, ...], Callable | None]:
    if NoneType in get_args(hint):
        (hint,) = (arg for arg in get_args(hint) if arg is not NoneType)
    if hint is float:
        return (float, int), partial(_number, name)
    if hint is str:
        return (str,), sound_text
    if hint in _WORDS:
        return (hint,), None
    if get_origin(hint) not in _MANY:
        return (dict,), partial(from_plain, hint, name=name)
    member, collect = get_args(hint)[0], get_origin(hint)
    if member is str:
        return _MANY, partial(_texts, name, collect)
    return _MANY, lambda items: tuple([from_plain(member, i, name) for i in items])


def _number(name: str, value: float) -> float:
    if not abs(value) < 1e300:
        raise ValueError(f"{_path(name)} is out of range: {_shown(value)}")
    return float(value)


def _texts(name: str, collect: Callable, values: Any) -> Any:
    for value in values:
        if type(value) is not str:
            raise ValueError(f"{_path(name)} holds what is no text: {_shown(value)}")
    return collect(map(sound_text, values))


def sound_text(value: str) -> str:
    """The text; a lone half of a surrogate pair, which nothing can write, is replaced.

    JSON can hold one, as an escape."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _path(*names: str) -> str:
    path = ".".join(filter(None, names))
    return f"field '{path}'" if path else "the record"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
