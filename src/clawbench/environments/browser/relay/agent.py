"""One CDP client of the agent: its own sessions, its own ids, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from clawbench.environments.browser.cdp import CdpConnection, Message, decode, encode
from clawbench.environments.browser.recorder.contexts import Contexts
from clawbench.environments.browser.relay.contexts import GONE, as_of_number, by_name, objects, owner
from clawbench.environments.browser.relay.policy import (
    PAGES,
    NoContextError,
    RefusalError,
    RelayRules,
    Seat,
    closed_by,
    depends_on_seat,
    is_visible,
    judge,
)

REFUSED_CODE = -32000
NO_SUCH_SESSION = -32001
RESOLVING = "DOM.resolveNode"

Log = Callable[[str, str | None, str, dict[str, Any], str], None]
"""Session kind, target, method, params, decision."""


class Wire(Protocol):
    """The client's connection."""

    def send(self, text: bytes) -> None: ...

    def close(self) -> None: ...


class Surroundings(Protocol):
    """What the relay knows of the whole browser."""

    @property
    def targets(self) -> dict[str, dict[str, Any]]: ...

    @property
    def pages(self) -> frozenset[str]: ...

    @property
    def contexts(self) -> Contexts: ...

    def closes(self, target: str | None) -> None: ...


@dataclass
class Owned:
    """A session that belongs to this client."""

    kind: str
    target: str | None
    contexts: set[int | str] = field(default_factory=set)
    """Execution contexts that the client was told of."""
    held_back: list[bytes] | None = None
    """Commands on objects, waiting for an answer: what it gives away may be taken back."""


class Agent:
    """Carries commands in and replies and events out, for one WebSocket."""

    def __init__(
        self,
        cdp: CdpConnection,
        rules: RelayRules,
        surroundings: Surroundings,
        wire: Wire,
        log: Log,
        before: Callable[[str, str | None], None],
    ) -> None:
        """`before` hears what is about to be done, and to which target."""
        self._cdp, self._rules, self._surroundings = cdp, rules, surroundings
        self._wire, self._log, self._before = wire, log, before
        self._anchor = self._base = ""
        self._sessions: dict[str, Owned] = {}

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(self._sessions)

    async def sit_down(self, target: str | None) -> None:
        """Take a session of its own: on the browser, or on one target."""
        browser = (await self._cdp.send("Target.attachToBrowserTarget"))["sessionId"]
        self._anchor = self._base = browser
        self._cdp.claim(browser, self._on_event)
        if target is not None:
            wanted = {"targetId": target, "flatten": True}
            attached = await self._cdp.send("Target.attachToTarget", wanted, session=browser)
            self._base = attached["sessionId"]
        info = self._surroundings.targets.get(target or "", {"type": "browser"})
        self._own(self._base, info["type"], target)

    def gone(self) -> None:
        """Give back every session; those opened from others end with them."""
        if self._anchor:
            self._cdp.notify("Target.detachFromTarget", {"sessionId": self._anchor})
        for session in self._sessions:
            self._cdp.claim(session, _nobody)
        self._cdp.claim(self._anchor, _nobody)
        self._sessions.clear()

    def _own(self, session: str, kind: str, target: str | None) -> None:
        self._sessions[session] = Owned(kind, target)
        self._cdp.claim(session, self._on_event)

    # -- from the agent --------------------------------------------------------------------------

    def received(self, text: bytes) -> None:
        try:
            message = decode(text)
            number, method = message["id"], message["method"]
            params, session = message.get("params") or {}, message.get("sessionId") or self._base
            if not isinstance(method, str) or not isinstance(params, dict):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            self._reply({"error": {"code": -32600, "message": "Message must be a CDP command"}}, None, None)
            return
        owned = self._sessions.get(session)
        if owned is None:
            error = {"code": NO_SUCH_SESSION, "message": "Session with given id not found."}
            self._log("unknown", None, method, params, "refused: no such session")
            self._reply({"error": error}, number, session)
            return
        if owned.held_back is not None and (method == RESOLVING or any(objects(params))):
            owned.held_back.append(text)  # any other may be what the answer waits for: a dialog to be closed
            return
        self._carry(number, session, owned, method, params)

    def _check_objects(self, owned: Owned, params: dict[str, Any]) -> None:
        for one in objects(params):
            context = owner(one)
            if context is None or self._surroundings.contexts.is_recorders(owned.target, context):
                raise RefusalError("there is no such object")

    def _answered(self, owned: Owned, method: str, reply: Message, number: Any, session: str) -> None:
        """Hand a reply on; of a new world only when it can be used."""
        result = reply.get("result")
        if method == "Target.getTargets" and result:
            result["targetInfos"] = [info for info in result["targetInfos"] if is_visible(info)]
        if method == "Page.createIsolatedWorld" and result and owned.target:
            world, reply_now = result["executionContextId"], partial(self._reply, reply, number, session)
            self._surroundings.contexts.when_known(owned.target, world, reply_now)
            return
        self._reply(reply, number, session)

    def _go_on(self, owned: Owned) -> None:
        """With what the client has sent while a node was given to a context by its number."""
        held_back, owned.held_back = owned.held_back, None
        for text in held_back or ():
            self.received(text)

    def _carry(self, number: Any, session: str, owned: Owned, method: str, params: dict[str, Any]) -> None:
        try:
            seat = self._seat(owned) if depends_on_seat(method, params) else Seat(owned.kind)
            allowed = judge(self._rules, seat, method, params)
            self._check_objects(owned, params)
        except RefusalError as refusal:
            self._log(owned.kind, owned.target, method, params, f"refused: {refusal}")
            error = {"code": REFUSED_CODE, "message": f"Not allowed here: {method}: {refusal}"}
            gone = isinstance(refusal, NoContextError) and owned.kind in PAGES
            self._reply({"error": GONE if gone else error}, number, session)
            return

        names = self._surroundings.contexts.of(owned.target)
        resolves = method == RESOLVING and "executionContextId" in allowed
        if resolves:
            owned.held_back = []

        def answer(reply: Message) -> None:
            if resolves and names is not self._surroundings.contexts.of(owned.target):
                self._withhold(reply, session)
            self._answered(owned, method, as_of_number(reply), number, session)
            if resolves:
                self._go_on(owned)

        closed = closed_by(method, allowed, owned.target)
        self._before(method, closed or owned.target)
        self._surroundings.closes(closed)
        self._cdp.send_raw(method, by_name(method, allowed, names), session, answer)
        # Written down while the browser is at it: an agent's next step waits for its answer, not for us.
        self._log(owned.kind, owned.target, method, params, "allowed")

    def _seat(self, owned: Owned) -> Seat:
        targets = self._surroundings.targets
        return Seat(
            kind=owned.kind,
            contexts=self._contexts(owned),
            sessions=self.sessions,
            pages=self._surroundings.pages,
            targets=frozenset(targets),
            target=owned.target,
            contexts_of_browser=frozenset(info.get("browserContextId", "") for info in targets.values()),
        )

    def _contexts(self, owned: Owned) -> frozenset[int | str]:
        """Of a document, all but the recorder's. Elsewhere it has none: those the client was told of."""
        if owned.kind in PAGES:
            names = self._surroundings.contexts.of(owned.target)
            return frozenset((*names, *names.values()))
        same_target = (one for one in self._sessions.values() if one.target == owned.target)
        return frozenset().union(*(one.contexts for one in same_target))

    def _withhold(self, reply: Message, session: str) -> None:
        """What was found may belong to a world of the next document: it is nobody's."""
        if (result := reply.pop("result", None)) is not None:
            self._release(result, session)
            reply["error"] = GONE

    def _release(self, told: dict[str, Any], session: str) -> None:
        """Objects that the browser has given to a session whose client does not hear of them."""
        for one in objects(told):
            self._cdp.notify("Runtime.releaseObject", {"objectId": one}, session)

    def _reply(self, reply: Message, number: Any, session: str | None) -> None:
        message: Message = {"id": number}
        message.update({name: reply[name] for name in ("result", "error") if name in reply})
        self._out(message, session)

    # -- from the browser ------------------------------------------------------------------------

    def _on_event(self, message: Message) -> None:
        """Hand on an event of one of its sessions."""
        session = message["sessionId"]
        owned = self._sessions.get(session)
        if owned is None:
            self._on_anchor_event(message)
            return
        follow = FOLLOWED.get(message["method"])
        if follow is not None and not follow(self, session, owned, message["params"]):
            return
        self._out({"method": message["method"], "params": message.get("params", {})}, session)

    def _on_anchor_event(self, message: Message) -> None:
        """A client of a single page ends with its page."""
        base_ended = message["method"] == "Target.detachedFromTarget" and (
            message["params"].get("sessionId") == self._base
        )
        if base_ended:
            self._out({"method": "Inspector.detached", "params": {"reason": "target_closed"}}, None)
            self._wire.close()

    def _attached(self, session: str, _owned: Owned, params: dict[str, Any]) -> bool:
        info = params["targetInfo"]
        if not is_visible(info) and info["type"] != "browser":
            self._cdp.notify("Runtime.runIfWaitingForDebugger", session=params["sessionId"])
            self._cdp.notify("Target.detachFromTarget", {"sessionId": params["sessionId"]}, session)
            return False
        self._own(params["sessionId"], info["type"], info["targetId"])
        return True

    def _detached(self, _parent: str, _owned: Owned, params: dict[str, Any]) -> bool:
        session = params.get("sessionId", "")
        self._cdp.release(session)
        return self._sessions.pop(session, None) is not None

    def _target_event(self, _session: str, _owned: Owned, params: dict[str, Any]) -> bool:
        return is_visible(params["targetInfo"])

    def _context_created(self, _session: str, owned: Owned, params: dict[str, Any]) -> bool:
        context = params["context"]
        if context.get("name") == self._rules.world:
            return False
        if owned.target and owned.kind in PAGES:
            self._surroundings.contexts.created(owned.target, context["id"], context["uniqueId"])
        owned.contexts.add(context["id"])
        if "uniqueId" in context:
            owned.contexts.add(context["uniqueId"])
        return True

    def _context_destroyed(self, _session: str, owned: Owned, params: dict[str, Any]) -> bool:
        known = params["executionContextId"] in owned.contexts
        owned.contexts.discard(params["executionContextId"])
        owned.contexts.discard(params.get("executionContextUniqueId", ""))
        return known

    def _contexts_cleared(self, _session: str, owned: Owned, _params: dict[str, Any]) -> bool:
        owned.contexts.clear()
        return True

    def _thrown(self, session: str, owned: Owned, params: dict[str, Any]) -> bool:
        """It would hand the client an object of the world in which it was thrown."""
        thrown_in = params["exceptionDetails"].get("executionContextId", 0)
        return self._is_for_client(session, owned, thrown_in, params)

    def _said(self, session: str, owned: Owned, params: dict[str, Any]) -> bool:
        return self._is_for_client(session, owned, params["executionContextId"], params)

    def _is_for_client(self, session: str, owned: Owned, context: int, params: dict[str, Any]) -> bool:
        recorders = self._surroundings.contexts.is_recorders(owned.target, context)
        if recorders:
            self._release(params, session)
        return not recorders

    def _binding_called(self, _session: str, _owned: Owned, params: dict[str, Any]) -> bool:
        return bool(params.get("name") != self._rules.binding)

    def _out(self, message: Message, session: str | None) -> None:
        if session is not None and session != self._base:
            message["sessionId"] = session
        self._wire.send(encode(message))


def _nobody(_message: Message) -> None:
    """Hears the last events of sessions whose client has gone."""


Follow = Callable[[Agent, str, Owned, dict[str, Any]], bool]

FOLLOWED: dict[str, Follow] = {
    "Runtime.bindingCalled": Agent._binding_called,
    "Runtime.consoleAPICalled": Agent._said,
    "Runtime.exceptionThrown": Agent._thrown,
    "Runtime.executionContextCreated": Agent._context_created,
    "Runtime.executionContextDestroyed": Agent._context_destroyed,
    "Runtime.executionContextsCleared": Agent._contexts_cleared,
    "Target.attachedToTarget": Agent._attached,
    "Target.detachedFromTarget": Agent._detached,
    "Target.targetCreated": Agent._target_event,
    "Target.targetInfoChanged": Agent._target_event,
}
"""Events that change what the agent owns or knows; the result says whether it hears of them."""
