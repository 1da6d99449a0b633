"""One model call: passed on to the upstream, its answer passed back as it arrives."""

from __future__ import annotations

import asyncio

from starlette.types import Receive

from clawbench.gateway.call import Call
from clawbench.gateway.meter import Meter
from clawbench.gateway.upstream import Headers, RunEndsError, UnreachableError
from clawbench.gateway.wire import Wire, hung_up


async def serve(meter: Meter, call: Call, headers: Headers, wire: Wire, receive: Receive) -> None:
    """Carry a call through; when the harness hangs up or the run ends, break it off."""
    passing = asyncio.create_task(_carry(meter, call, headers, wire))
    meter.track(call, passing)
    listening = asyncio.create_task(hung_up(receive))
    try:
        await asyncio.wait({passing, listening}, return_when=asyncio.FIRST_COMPLETED)
        if not passing.done():
            call.aborted = call.aborted or "harness"
    finally:
        passing.cancel()
        listening.cancel()
        await asyncio.gather(passing, listening, return_exceptions=True)
    if passing.cancelled():
        if not wire.started:
            await wire.error(503, "The run has ended.", "run_ended")
    else:
        passing.result()


async def _carry(meter: Meter, call: Call, headers: Headers, wire: Wire) -> None:
    try:
        await _pass_on(meter, call, headers, wire)
    except UnreachableError as error:
        call.unreachable, call.error = True, str(error)
    except RunEndsError as error:
        call.error = call.ends_run = error.description
        meter.end_run(error.reason, error.description)
    except asyncio.CancelledError:
        call.aborted = call.aborted or "gateway"
        raise
    except Exception as error:
        call.error = f"the gateway failed ({type(error).__name__})"
        raise
    finally:
        # Before the end is sent: the next call must already find this one counted.
        meter.account(call)
    await _finish(call, wire)


async def _pass_on(meter: Meter, call: Call, headers: Headers, wire: Wire) -> None:
    reply = await meter.upstream.send(call.outgoing(headers))
    try:
        call.begin_answer(reply)
        await wire.start(reply.status, reply.headers)
        async for chunk in reply.body():
            try:
                await wire.chunk(chunk)
            finally:
                # The harness first; but what came is on record, whether it could be passed on or not.
                call.receive(chunk)
    finally:
        await reply.close()


async def _finish(call: Call, wire: Wire) -> None:
    if call.ends_run and not wire.started:
        await wire.error(410, call.ends_run, "run_ended")
    elif not call.unreachable and not call.ends_run:
        await wire.end()
    elif call.unreachable and not wire.started:
        await wire.error(502, f"The model's API could not be reached: {call.error}", "upstream_unreachable")
    # Else the answer broke off halfway: left without an end, the connection is cut, as it was upstream.
