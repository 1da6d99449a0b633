import asyncio
import time

from clawbench.results import StopReason
from clawbench.runner.stops import Stop, after, event, first_of, idle


def test_the_first_condition_wins_and_the_others_are_cancelled() -> None:
    async def scenario() -> None:
        flag = asyncio.Event()
        flag.set()
        work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.ensure_future(asyncio.wait_for(work, 60))
        stop = await first_of([after(60), event(flag, Stop(StopReason.CANCELLED, "x"))], task)
        assert stop == Stop(StopReason.CANCELLED, "x")
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(scenario())


def test_work_that_ends_first_gives_none() -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(asyncio.sleep(0))
        assert await first_of([after(60)], task) is None

    asyncio.run(scenario())


def test_the_time_limit() -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        stop = await first_of([after(0.01)], task)
        task.cancel()
        assert stop is not None
        assert stop.reason is StopReason.TIME_LIMIT

    asyncio.run(scenario())


def test_idle_is_neither_action_nor_call_under_way() -> None:
    async def scenario() -> float:
        busy = True
        last = time.monotonic()

        def finish() -> None:
            nonlocal busy, last
            busy, last = False, time.monotonic()

        loop = asyncio.get_running_loop()
        loop.call_later(0.3, finish)
        stop = await idle(0.1, lambda: busy, lambda: last)()
        assert stop.reason is StopReason.IDLE
        assert not busy
        return time.monotonic() - last

    assert asyncio.run(scenario()) >= 0.1
