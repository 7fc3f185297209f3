"""What a request meets before the app: host, size, time; and what each answer bears."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .failures import Refusal, no_answer, refuse

# A text of 200 kB takes up to six times as much where JSON escapes its signs.
MAX_BODY = 1_500_000
_OWN_SITE = ("same-origin", "none")  # none: a person typed the address
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Limits:
    """seconds: one request may take. waiting: requests that wait for the model.
    body: bytes."""

    seconds: float = 30.0
    waiting: int = 32
    body: int = MAX_BODY


class Hosts:
    """The names that the server answers to. A page elsewhere that points its own name
    at this machine (DNS rebinding) is not among them.

    any_address: also IP addresses, which no one can point elsewhere.
    """

    def __init__(self, names: Iterable[str], port: int, any_address: bool = False):
        self._names = {name.casefold() for name in names}
        self._port = port
        self._any_address = any_address

    def __contains__(self, host: object) -> bool:
        if not isinstance(host, str):
            return False
        name, port = host.casefold(), "80"
        if ":" in name.rpartition("]")[2]:
            name, _, port = name.rpartition(":")
        if port != str(self._port):
            return False
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, hosts: Hosts, limits: Limits) -> None:
        self._app = app
        self._hosts = hosts
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _Sender(send))

    async def _answer(self, scope: Scope, receive: Receive, send: _Sender) -> None:
        try:
            async with asyncio.timeout(self._limits.seconds):
                self._check(scope)
                body = await _read(receive, self._limits.body)
                if body is not None:
                    await self._app(scope, _replay(body, receive), send)
        except TimeoutError:
            reason = f"it took more than {self._limits.seconds:g} seconds"
            await self._refuse(no_answer(reason, "--seconds"), scope, receive, send)
        except Refusal as refusal:
            await self._refuse(refusal, scope, receive, send)

    @staticmethod
    async def _refuse(
        refusal: Refusal, scope: Scope, receive: Receive, send: _Sender
    ) -> None:
        if not send.started:
            # What is left of the body is not read: the connection cannot go on.
            refusal.headers["Connection"] = "close"
            await refusal.response()(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            remedy = "Open the address that it printed, or start it with --allow-host."
            raise refuse("the server has another name", remedy, "Host", 421)
        # Other sites may link to the page; what it reads and loads is not for them.
        elsewhere = headers.get("sec-fetch-site", "none") not in _OWN_SITE
        link = scope["path"] == "/" and headers.get("sec-fetch-dest") == "document"
        if elsewhere and not link:
            remedy = "Open the page of this server itself."
            raise refuse("another site asks for it", remedy, "Sec-Fetch-Site", 403)
        size = headers.get("content-length", "0")
        if not size.isdecimal() or int(size[:20]) > self._limits.body:
            raise _too_large(self._limits.body)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind != "application/json":
            # A form of a page elsewhere can send other types, without being asked.
            reason = "its body is not application/json"
            raise refuse(reason, field="Content-Type", status=415)


async def _read(receive: Receive, most: int) -> bytes | None:
    """The body, None if who asked has gone. RAISES: Refusal, as soon as it is too
    large, whether its length was told or not."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def _too_large(most: int) -> Refusal:
    remedy = "Send less."
    return refuse(f"it is larger than {most:,} bytes", remedy, status=413)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [
        {"type": "http.request", "body": body, "more_body": False}
    ]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


class _Sender:
    """Sends on, with the headers that each answer bears."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)
