"""One connection to the browser: commands, replies, and events in order, over whatever carries messages."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from pydantic_core import from_json, to_json

Message = dict[str, Any]
EventHandler = Callable[[dict[str, Any], str | None], None]
"""Called with the event's params and the session it came from, in the order the browser sent them."""

DEFAULT_TIMEOUT_S = 30.0
SESSION_AT_END, LONGEST_END = b',"sessionId":"', 64

log = logging.getLogger(__name__)

_compact = json.JSONEncoder(separators=(",", ":"))


def encode(message: Message) -> bytes:
    try:
        return to_json(message)
    except ValueError:  # a page's text may be no Unicode, and its data deeper than that goes
        return _compact.encode(message).encode()


def decode(raw: bytes) -> Any:
    """What a message says; ValueError where it is none."""
    try:
        return from_json(raw)
    except ValueError:  # for the same reasons
        return json.loads(raw)


class CdpError(Exception):
    """The browser refused a command, or is gone."""

    def __init__(self, method: str, message: str, code: int = -32000) -> None:
        self.method, self.message, self.code = method, message, code
        super().__init__(f"{method}: {message}")


class Transport(Protocol):
    """Carries whole messages to and from a browser: its debugging pipe, or a WebSocket."""

    def start(self, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Hand over each message as it comes, and the end once, unless `close` came first."""
        ...

    def write(self, message: bytes) -> None:
        """Send now, in the order of calls; never waits."""
        ...

    def close(self) -> None: ...


class CdpConnection:
    """Commands, replies and events of one browser; owns the transport it is given.

    Handlers run synchronously while the message is read, so that no later message overtakes them; they
    must not block. A handler that raises is reported to the event loop's exception handler.
    """

    def __init__(self, transport: Transport) -> None:
        self.closed = asyncio.Event()
        """Set once the connection has ended, whoever ended it."""
        self.lost_by: str | None = None
        """Why we ended it, where that was not asked for."""
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._replies: dict[int, Callable[[Message], None]] = {}
        self._handlers: dict[str, list[EventHandler]] = {}
        self._observers: list[Callable[[Message], None]] = []
        self._claims: dict[str, Callable[[Message], None]] = {}
        self._unread: tuple[bytes, ...] = ()
        self._close_callbacks: list[Callable[[], None]] = []
        self._next_id = 0
        transport.start(self._dispatch, self.close)

    # -- sending ---------------------------------------------------------------------------------

    async def send(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        session: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
    ) -> dict[str, Any]:
        """Send a command and return its result; CdpError where the browser refuses, ends or is silent."""
        try:
            async with asyncio.timeout(timeout):
                return await self.call(method, params, session)
        except TimeoutError:
            raise CdpError(method, f"no answer within {timeout:g} s") from None

    def call(
        self, method: str, params: dict[str, Any] | None = None, session: str | None = None
    ) -> asyncio.Future[dict[str, Any]]:
        """Send now, in the order of calls; the future holds the result."""
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()

        def settle(reply: Message) -> None:
            if future.done():
                return
            if (error := reply.get("error")) is not None:
                future.set_exception(CdpError(method, error.get("message", ""), error.get("code", -32000)))
            else:
                future.set_result(reply.get("result", {}))

        self.send_raw(method, params, session, settle)
        return future

    def notify(self, method: str, params: dict[str, Any] | None = None, session: str | None = None) -> None:
        """Send now and let any answer go."""
        self.send_raw(method, params, session, None)

    def send_raw(
        self,
        method: str,
        params: dict[str, Any] | None,
        session: str | None,
        on_reply: Callable[[Message], None] | None,
    ) -> None:
        """Send now; `on_reply` gets the whole reply message (`result` or `error`), once."""
        if self.closed.is_set():
            if on_reply is not None:
                self._loop.call_soon(on_reply, _ended())
            return
        self._next_id += 1
        message: Message = {"id": self._next_id, "method": method}
        if params is not None:
            message["params"] = params
        if session is not None:
            message["sessionId"] = session
        if on_reply is not None:
            self._replies[self._next_id] = on_reply
        self._transport.write(encode(message))

    # -- receiving -------------------------------------------------------------------------------

    def on(self, method: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler(params, session)` for each such event; returns what takes it off again."""
        handlers = self._handlers.setdefault(method, [])
        handlers.append(handler)
        return lambda: handlers.remove(handler)

    def on_any(self, observer: Callable[[Message], None]) -> Callable[[], None]:
        """Call `observer(message)` for each event, whole; after the handlers of that event."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def claim(self, session: str, owner: Callable[[Message], None]) -> None:
        """Hand the events of one session to `owner(message)` alone: no handler and no observer sees them."""
        self._claims[session] = owner

    def release(self, session: str) -> None:
        """Undo a claim; what the browser still says of that session goes to everybody again."""
        self._claims.pop(session, None)

    def ignore(self, methods: Iterable[str]) -> None:
        """Nobody listens for these events, except the owners of claimed sessions: leave them unread."""
        self._unread = tuple(f'{{"method":"{method}"'.encode() for method in methods)

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` at the very moment the connection is seen to have ended."""
        self._close_callbacks.append(callback)

    def close(self) -> None:
        """End the connection; a Chromium on a pipe exits with it."""
        if self.closed.is_set():
            return
        self.closed.set()
        self._transport.close()
        for callback in self._close_callbacks:
            self._guarded(callback)
        replies, self._replies = self._replies, {}
        for on_reply in replies.values():
            self._guarded(on_reply, _ended())

    def _dispatch(self, raw: bytes) -> None:
        if raw.startswith(self._unread) and self._is_nobodys(raw):
            return
        try:
            message: Message = decode(raw)
        except ValueError:
            # Whatever was lost with it, nothing can be decided rightly any more.
            self.lost_by = f"The browser sent {len(raw)} bytes that are no message."
            log.error("%s", self.lost_by)
            self.close()
            return
        if (message_id := message.get("id")) is not None:
            waiting = self._replies.pop(message_id, None)
            if waiting is not None:
                self._guarded(waiting, message)
            return
        self.deliver(message)

    def _is_nobodys(self, raw: bytes) -> bool:
        """Whether an unread event is of a session that nobody claims."""
        _, found, name = raw[-LONGEST_END:].partition(SESSION_AT_END)
        return bool(found) and name[:-2].decode("latin-1") not in self._claims

    def deliver(self, message: Message) -> None:
        """Hand an event to the owner of its session, else to its handlers and to every observer."""
        params, session = message.get("params", {}), message.get("sessionId")
        if session is not None and (owner := self._claims.get(session)) is not None:
            self._guarded(owner, message)
            return
        for handler in tuple(self._handlers.get(message["method"], ())):
            self._guarded(handler, params, session)
        for observer in tuple(self._observers):
            self._guarded(observer, message)

    def _guarded(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            callback(*arguments)
        except Exception as error:
            self._loop.call_exception_handler(
                {"message": f"CDP callback {callback!r} failed", "exception": error}
            )


def _ended() -> Message:
    return {"error": {"code": -32000, "message": "the connection to the browser has ended"}}
