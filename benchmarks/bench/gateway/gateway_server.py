"""A gateway as a run has it, in a process of its own: `python gateway_server.py PORT DIRECTORY`.

Behind the same bridge that answers a sandbox's port. Prints its port; for every line on its input it ends
the run that is open, opens another and prints the token.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import sys
from pathlib import Path

from clawbench.gateway import Gateway
from clawbench.models import ApiType, Model
from clawbench.results import Price, RunDirectory
from clawbench.sandbox import Bridge


async def main(api_port: int, directory: Path) -> None:
    model = Model(
        name="bench",
        base_url=f"http://127.0.0.1:{api_port}/v1",
        api_type=ApiType.OPENAI_COMPLETIONS,
        api_keys=("sk-benchmark-0123456789abcdef",),
        price=Price(input=1.0, output=2.0),
    )
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with Gateway(directory / "gateway.sock") as gateway:
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        bridge = Bridge(listener, gateway.socket_path)
        bridge.start()
        print(listener.getsockname()[1], flush=True)
        meter = None
        for number in itertools.count():
            if not await lines.readline():
                break
            if meter is not None:
                await meter.close()
            names = {"batch": "b", "suite": "s", "harness": "h", "model": "m"}
            run = RunDirectory.create(directory, task=str(number), **names)
            meter = gateway.open_run(run_id=str(number), model=model, run=run)
            print(meter.token, flush=True)
        await bridge.close()
        listener.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
