"""All the text of what a tool returned or raised."""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import os
import uuid
from collections.abc import Mapping, Set, ValuesView
from typing import Any

from . import _guard
from ._inputs import plain

#: No reader accepts it as a value, so a member that has it is unknown, and not absent.
UNKNOWN = float("nan")

#: Classes whose objects are shown as `str` writes them.
_SHOWN = (
    complex,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
)


def text_of(value: Any) -> Any:
    """Return all the text of a value or an exception, or `UNKNOWN` if some of it cannot be read.

    Its strings, keys and numbers are joined by line ends, and then joined again without, since a phrase may be split over
    several of them. Encoded text (`data:` addresses, bytes, members such as `blob`) is decoded as by `guard proxy`.
    """
    try:
        text = _guard.text_of(_guard.to_json(_readable(value)), of_server=False)
    # Properties, `__str__` and `__repr__` of other packages raise anything.
    except Exception:
        return UNKNOWN
    return UNKNOWN if text is None else text


def parts(content: Any) -> Any:
    """Return the content of a message, in which a block of text and nothing else stands for its text."""
    if not isinstance(content, list):
        return content
    return [part["text"] if isinstance(part, dict) and part.keys() == {"type", "text"} else part for part in content]


def _readable(value: Any) -> Any:
    """Return strings, numbers, lists and dicts with the same text. Raises `TypeError` for a class whose text is not known."""
    if isinstance(value, enum.Enum):
        return [str(value), _readable(value.value)]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"blob": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: _readable(item) for key, item in value.items()}
        return [[_readable(key), _readable(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple, collections.deque, Set, ValuesView)):
        return [_readable(item) for item in value]
    if isinstance(value, BaseException):
        return _shown(value)
    if isinstance(value, _SHOWN):
        return str(value)
    if isinstance(value, os.PathLike):
        return _readable(os.fspath(value))
    members = _members(value)
    if members is not None:
        # A program may show such an object as `str` writes it.
        return [_readable(members), str(value)]
    if type(value).__module__.partition(".")[0] in ("pydantic", "pydantic_core"):
        return str(value)
    return _readable(plain(value))


def _members(value: Any) -> dict[str, Any] | None:
    """Return the members of a data class or of a class of `pydantic`, `attrs` or `msgspec`; `None` for others."""
    kind = type(value)
    if hasattr(kind, "model_computed_fields"):
        computed = {name: getattr(value, name) for name in kind.model_computed_fields}
        return {**value.__dict__, **(value.__pydantic_extra__ or {}), **computed}
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    elif hasattr(kind, "__attrs_attrs__"):
        names = [field.name for field in kind.__attrs_attrs__]
    elif hasattr(kind, "__struct_fields__"):
        names = list(kind.__struct_fields__)
    else:
        return None
    return {name: getattr(value, name) for name in names}


def _shown(error: BaseException) -> list[Any]:
    """Return what Python shows of an exception, its causes and the members of a group, and attributes that can be read."""
    told: list[Any] = []
    pending, seen = [error], set()
    while pending:
        error = pending.pop(0)
        if id(error) in seen:
            continue
        seen.add(id(error))
        # The arguments as they are: `repr` escapes their line ends. Notes are among the attributes.
        parts = [repr(error), str(error), *error.args, *getattr(error, "__dict__", {}).values()]
        n_shown = 2 + len(error.args)
        for place, part in enumerate(parts):
            if isinstance(part, BaseException):
                pending.append(part)
                continue
            try:
                read = _readable(part)
            except Exception:
                # Python shows arguments, and does not show other attributes, such as the response of an HTTP library.
                if place >= n_shown:
                    continue
                read = str(part)
            if read not in told:
                told.append(read)
        context = None if error.__suppress_context__ else error.__context__
        pending += [other for other in (error.__cause__, context, *getattr(error, "exceptions", ())) if other is not None]
    return told
