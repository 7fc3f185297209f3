"""What is refused, in one shape: {"error": {"code", "message", "field"}}."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..errors import Errors, T2VError, error

_READ_API = "See /api/v1/openapi.json."
_STATUS = {"T043": 404, "T186": 503}  # of other codes 422
# What pydantic calls things, in the words of a person.
_WORDS = {
    "extra_forbidden": "it is not known here",
    "json_invalid": "it is no JSON",
    "missing": "it is lacking",
}
_HTTP = {
    400: "its body is no JSON in UTF-8",
    404: "there is no such address",
    405: "this address does not take this method",
}


class Json(Response):
    """JSON of any text: half of a surrogate pair, which UTF-8 has not, becomes "?"."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "replace")


class Refusal(Exception):
    """An error with the status of its answer.

    status (int): of HTTP. field (str | None): where in the request it lies.
    """

    def __init__(
        self,
        err: T2VError,
        field: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.err = err
        self.field = field
        self.status = status or _STATUS.get(err.code, 422)
        self.headers = dict(headers or {})
        super().__init__(str(err))

    def response(self) -> Json:
        message = str(self.err).removeprefix(f"[{self.err.code}] ")
        shape = {"code": self.err.code, "message": message, "field": self.field}
        return Json({"error": shape}, self.status, self.headers)


def refuse(
    reason: str, remedy: str = _READ_API, field: str | None = None, status: int = 422
) -> Refusal:
    """A request that is wrong (T185)."""
    return Refusal(error(Errors.T185, reason=reason, remedy=remedy), field, status)


def no_answer(reason: str, setting: str) -> Refusal:
    """A request that is right, at the wrong time (T186). setting: an option."""
    err = error(Errors.T186, reason=reason, setting=setting)
    return Refusal(err, headers={"Retry-After": "5"})


async def on_refusal(request: Request, err: Exception) -> Response:
    assert isinstance(err, Refusal)
    return err.response()


async def on_t2v_error(request: Request, err: Exception) -> Response:
    assert isinstance(err, T2VError)
    return Refusal(err).response()


async def on_invalid(request: Request, err: Exception) -> Response:
    """The first of the errors that pydantic found."""
    assert isinstance(err, RequestValidationError)
    first = err.errors()[0]
    kind = first["type"]
    field = _field(first["loc"])
    reason = _WORDS.get(kind) or first["msg"].removeprefix("Value error, ")
    where = field or "the body"
    status = 400 if kind == "json_invalid" else 422
    return refuse(f"{where}: {reason}", field=field, status=status).response()


async def on_http(request: Request, err: Exception) -> Response:
    assert isinstance(err, HTTPException)
    reason = _HTTP.get(err.status_code, "it is not understood")
    found = refuse(reason, status=err.status_code)
    found.headers.update(err.headers or {})
    return found.response()


async def on_failure(request: Request, err: Exception) -> Response:
    """A fault of the program, whose trace goes to stderr."""
    reason = "the server failed, as its log says"
    return refuse(reason, "Please report it.", status=500).response()


def _field(places: Sequence[int | str]) -> str | None:
    """("body", "parts", "condition", "weight") -> "parts.condition.weight"."""
    inner = places[1:] if places[0] in ("body", "query", "path") else places
    if places[0] == "body" and len(inner) == 1 and isinstance(inner[0], int):
        return None  # a place in text that is no JSON
    return ".".join(str(place) for place in inner)[:200] or None
