"""The command `t2v serve`: an index as a page and an API on this machine."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import Errors, T2VError, error

if TYPE_CHECKING:
    from spacy.language import Language

    from .serve.limits import Hosts

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    index: Annotated[Path, typer.Argument(help="Folder of the index.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="Pipeline that encodes texts: an installed name or a path. Default: "
            "the one recorded in the index."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen at, 0 for any.", min=0, max=65535)
    ] = 8765,
    termination: Annotated[
        str | None, typer.Option(help="Pipeline trained on termination, for risks.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow a host that others reach.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name that browsers may know it by; repeatable."),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time that one request may take.", min=0.1)
    ] = 30.0,
    waiting: Annotated[
        int, typer.Option(help="Requests that may wait for the model.", min=1)
    ] = 32,
) -> None:
    """Serve an index: a page to search, read and compare trials, and an API."""
    app, listening = prepare(
        index,
        model=model,
        host=host,
        port=port,
        termination=termination,
        allow_remote=allow_remote,
        allow_host=allow_host or (),
        seconds=seconds,
        waiting=waiting,
    )
    import uvicorn

    shown = _bracketed(host)
    address = f"http://{shown}:{listening.getsockname()[1]}/"
    typer.echo(f"Serving {index} at {address} (Ctrl-C stops it)", err=True)
    uvicorn.Server(uvicorn_config(app)).run(sockets=[listening])


def prepare(
    index: Path,
    *,
    model: str | None,
    host: str,
    port: int,
    termination: str | None,
    allow_remote: bool,
    allow_host: list[str] | tuple[str, ...],
    seconds: float,
    waiting: int,
) -> tuple[object, socket.socket]:
    """The application and the socket to serve it at; what is wrong is said before."""
    _need("fastapi", "uvicorn")
    if host not in _LOOPBACK:
        if not allow_remote:
            reason = f"anyone who reaches {host} could use it, without a password"
            remedy = "Add --allow-remote if that is meant, or leave --host out."
            raise error(Errors.T187, reason=reason, remedy=remedy)
        typer.echo(
            f"Warning: anyone who reaches {host} can read this index and use this "
            "machine to search it. There is no password and no encryption.",
            err=True,
        )
    from .cli_predict import load_classifier
    from .serve.answers import Models
    from .serve.app import make_app
    from .serve.library import Library
    from .serve.limits import Limits

    library = Library(index)
    recorded = library.current().index.meta.get("pipeline")
    models = Models(
        _load(model, recorded), load_classifier(termination) if termination else None
    )
    listening = _listen(host, port)
    hosts = _hosts(host, listening.getsockname()[1], allow_host)
    app = make_app(library, models, hosts, Limits(seconds, waiting))
    return app, listening


def uvicorn_config(app: object):  # type: ignore[no-untyped-def]
    """Settings of the server: no log of requests, no WebSockets, no name of it."""
    import uvicorn

    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=5,
    )


def _load(model: str | None, recorded: str | None) -> Language | None:
    """The pipeline that was named, else the index's own if it is there."""
    from .cli import load_pipeline

    try:
        return load_pipeline(model or recorded, concepts=True)
    except T2VError as err:
        if model:
            raise
        typer.echo(f"{err} Until then, searches start from trials only.", err=True)
        return None


def _hosts(host: str, port: int, more: list[str] | tuple[str, ...]) -> Hosts:
    from .serve.limits import LOOPBACK, Hosts

    names = [_bracketed(host), *LOOPBACK, *more]
    return Hosts(names, port, any_address=host not in _LOOPBACK)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=256)
    except OSError as err:
        reason = f"it cannot listen at {host}, port {port} ({err.strerror or err})"
        remedy = "Choose another --port."
        raise error(Errors.T187, reason=reason, remedy=remedy) from err
    # asyncio does so only for sockets that name their protocol; without it every answer
    # waits 40 ms for the other side's acknowledgement of its head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _need(*libraries: str) -> None:
    from importlib.util import find_spec

    for library in libraries:
        if find_spec(library) is None:
            raise error(Errors.T188, library=library)
