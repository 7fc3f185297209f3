"""The application: addresses, and who answers at which desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..about import __version__
from ..errors import T2VError
from ..search.lexical import LEXICAL
from . import answers, failures
from .answers import Models
from .desk import Desk
from .failures import Json, Refusal
from .library import Edition, Library
from .limits import Guard, Hosts, Limits
from .requests import Compare, Export, Risk, Search, SimpleSearch

API = "/api/v1"
PAGE = Path(__file__).with_name("page")
_READERS = 2  # threads for what needs no model
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_EXPORTED = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "ris": "application/x-research-info-systems",
}
_REFUSED: dict[int | str, dict[str, Any]] = {
    422: {"description": 'Refused: {"error": {"code", "message", "field"}}.'}
}


def make_app(
    library: Library, models: Models, hosts: Hosts, limits: Limits | None = None
) -> Guard:
    """The application (ASGI).

    hosts: names it answers to. limits: as `Limits` by default.
    """
    limits = limits or Limits()
    model_desk = Desk("model", limits.waiting)
    reading_desk = Desk("reading", limits.waiting, _READERS)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(model_desk.ask(answers.warm, models))
        library.current().map.start()
        yield
        warming.cancel()
        model_desk.close()
        reading_desk.close()

    app = FastAPI(
        title="Trials that resemble one",
        version=__version__,
        lifespan=lifespan,
        # The pages that FastAPI has for these load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        default_response_class=Json,
        responses=_REFUSED,
    )
    for kind, handler in (
        (Refusal, failures.on_refusal),
        (T2VError, failures.on_t2v_error),
        (RequestValidationError, failures.on_invalid),
        (HTTPException, failures.on_http),
        (Exception, failures.on_failure),
    ):
        app.add_exception_handler(kind, handler)

    @app.post(f"{API}/search")
    async def search(ask: Search) -> Response:
        """The trials most like a text, parts, or trials."""
        return Json(
            await model_desk.ask(answers.search, library.current(), models, ask)
        )

    @app.get(f"{API}/search")
    async def simple_search(ask: Annotated[SimpleSearch, Query()]) -> Response:
        """The same for a text or id and filters."""
        return Json(
            await model_desk.ask(answers.search, library.current(), models, ask.whole())
        )

    @app.post(f"{API}/export")
    async def export(ask: Export) -> Response:
        """Results as a file: CSV, JSON or RIS."""
        edition = library.current()
        found = await model_desk.ask(answers.to_export, edition, models, ask)
        data = await reading_desk.ask(answers.export, *found, ask.format)
        name = f'attachment; filename="trials.{ask.format}"'
        return Response(
            data,
            media_type=_EXPORTED[ask.format],
            headers={"Content-Disposition": name},
        )

    @app.post(f"{API}/compare")
    async def compare(ask: Compare) -> Response:
        """Two to five trials of the index side by side."""
        edition = library.current()
        return Json(await model_desk.ask(answers.compare, edition, models, ask.ids))

    @app.post(f"{API}/risk")
    async def risk(ask: Risk) -> Response:
        """How likely a trial, or a draft, is to be terminated early."""
        return Json(await model_desk.ask(answers.risk, library.current(), models, ask))

    # An id of another registry may have a slash in it.
    @app.get(f"{API}/records/{{nct_id:path}}")
    async def record(nct_id: str, whole: bool = False) -> Response:
        """A record with its criteria, in short form or whole."""
        edition = library.current()
        return Json(await reading_desk.ask(answers.record, edition, nct_id, whole))

    @app.get(f"{API}/facets")
    async def facets() -> Response:
        """What filters can be set to, with counts."""
        return Json(library.current().facets)

    @app.get(f"{API}/map")
    async def trial_map() -> Response:
        """Where the trials, or a sample of them, lie in two dimensions."""
        found = library.current().map.get()
        return Json(found, 202 if found["status"] == "computing" else 200)

    @app.get(f"{API}/health")
    async def health() -> Response:
        """What is served, since when, and what it can do."""
        return Json(_health(library, library.current(), models))

    _add_page(app)
    return Guard(app, hosts, limits)


def _health(library: Library, edition: Edition, models: Models) -> dict[str, Any]:
    info = edition.index.info()
    kept = (
        "n_items",
        "created",
        "updated",
        "source",
        "snapshots",
        "sections",
        "not_indexed",
    )
    started = [year for year, count in edition.facets["years"] if count]
    return {
        "status": "ok",
        "version": __version__,
        "index": {
            "name": edition.index.path.name,
            **{name: info.get(name) for name in kept},
            "pipeline": _last_part(info.get("pipeline")),
            "width": info.get("width"),
            "search": info["search"],
            "started": [started[0], started[-1]] if started else None,
            "opened": edition.opened,
            "reopen_failed": library.failure is not None,
        },
        "can": {
            "text": models.nlp is not None,
            "risk": models.risk is not None,
            "hybrid": LEXICAL in edition.index.meta["files"],
        },
    }


def _last_part(name: str | None) -> str | None:
    """Of a path: where it lies is nobody's business."""
    return name and Path(name).name


def _add_page(app: FastAPI) -> None:
    """The files of the page, and no others, each at its own address."""
    for path in sorted(PAGE.iterdir()):
        if path.suffix in _TYPES:
            address = "/" if path.name == "index.html" else f"/{path.name}"
            app.add_api_route(address, _file(path), include_in_schema=False)


def _file(path: Path) -> Any:
    data, kind = path.read_bytes(), _TYPES[path.suffix]

    async def send() -> Response:
        return Response(data, media_type=kind, headers={"Cache-Control": "no-cache"})

    return send
