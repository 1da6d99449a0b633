"""The recorder's world stays out of reach also in the moment in which one document follows another."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from clawbench.environments.browser.recorder import BINDING

pytestmark = pytest.mark.anyio

SITES = ("http://shop.example/", "http://other.example/")
CHANGES = 8


async def worlds_of(page: Any, count: int) -> set[int]:
    """The numbers of every context that the agent is told of."""
    frame = (await page("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    made = [await page("Page.createIsolatedWorld", frameId=frame) for _ in range(count)]
    told = [
        event["params"]["context"]["id"]
        for event in page.events
        if event["method"] == "Runtime.executionContextCreated"
    ]
    return {world["executionContextId"] for world in made} | set(told)


async def test_no_object_of_the_recorders_world_is_anybodys(open_session: Any, refused: Any) -> None:
    """An object's id tells its process, its context and its number: all can be guessed."""
    async with open_session({}) as opened:
        page = await opened.page_client()
        await page("Runtime.enable")
        await page.go("http://shop.example/")
        numbers = await worlds_of(page, 1)
        mine = (await page("Runtime.evaluate", expression="document"))["result"]["objectId"]
        process, context, _ = mine.split(".")
        assert int(context) in numbers
        said: dict[str, list[str]] = {}
        for number in set(range(1, max(numbers))) - numbers:
            for spelling in ("{}.{}.1", "{}.+{}.1", "{}. {}.1", "{}.0{}.1", "{}." + "0" * 5000 + "{}.1"):
                guessed = spelling.format(process, number)
                for method, call in named_in_many_ways(mine, guessed):
                    with pytest.raises(refused) as answer:
                        await page(method, **call)
                    said.setdefault(f"{method} {spelling}", []).append(str(answer.value))
        for one, answers in said.items():
            assert any("there is no such object" in answer for answer in answers), one


async def test_data_of_a_page_may_have_ids_of_objects(open_session: Any) -> None:
    async with open_session({}) as opened:
        page = await opened.page_client()
        await page("Runtime.enable")
        await page.go("http://shop.example/")
        mine = (await page("Runtime.evaluate", expression="document"))["result"]["objectId"]
        answer = await page(
            "Runtime.callFunctionOn",
            objectId=mine,
            functionDeclaration="(item) => item.objectId",
            arguments=[{"value": {"objectId": "SKU-1"}}],
        )
        assert answer["result"]["value"] == "SKU-1"


def named_in_many_ways(mine: str, guessed: str) -> list[tuple[str, dict[str, Any]]]:
    call = {"functionDeclaration": "() => 1"}
    return [
        ("Runtime.callFunctionOn", {"objectId": guessed, **call}),
        ("Runtime.callFunctionOn", {"objectId": mine, "arguments": [{"objectId": guessed}], **call}),
        ("Runtime.awaitPromise", {"promiseObjectId": guessed}),
        ("Runtime.getExceptionDetails", {"errorObjectId": guessed}),
    ]


async def test_what_is_thrown_in_the_recorders_world_cannot_be_had(open_session: Any) -> None:
    """A page can send events from within events until the recorder's own listener runs out of stack."""
    async with open_session({}) as opened:
        page = await opened.page_client()
        await page("Runtime.enable")
        await page.go("http://shop.example/")
        mine = (await page("Runtime.evaluate", expression="document.body"))["result"]["objectId"]
        process, context, _ = mine.split(".")
        again = "document.body.dispatchEvent(new MouseEvent('click'))"
        await page.run(f"document.body.onclick = () => {again}; try {{ {again} }} catch {{}} 1")
        guesses = [
            page(
                "Runtime.callFunctionOn",
                objectId=f"{process}.{sign}{world}.{number}",
                functionDeclaration=f"() => typeof {BINDING}",
            )
            for world, number in itertools.product(range(1, int(context) + 5), range(1, 6))
            for sign in ("", "+", " ")
        ]
        answers = await asyncio.gather(*guesses, return_exceptions=True)
        found = [answer["result"]["value"] for answer in answers if isinstance(answer, dict)]
        assert set(found) <= {"undefined"}


async def test_a_dialog_can_be_closed_while_a_node_is_being_resolved(open_session: Any, until: Any) -> None:
    async with open_session({}) as opened:
        page = await opened.page_client()
        for domain in ("Runtime", "Page", "DOM"):
            await page(f"{domain}.enable")
        await page.go("http://shop.example/")
        node = (await page("DOM.getDocument"))["root"]["backendNodeId"]
        (number, *_) = await worlds_of(page, 1)
        shown = asyncio.ensure_future(page("Runtime.evaluate", expression="alert(1)"))
        opening = "Page.javascriptDialogOpening"
        await until(lambda: any(event["method"] == opening for event in page.events))
        resolved = asyncio.ensure_future(
            page("DOM.resolveNode", backendNodeId=node, executionContextId=number)
        )
        await until(lambda: "DOM.resolveNode" in opened.run.relay_log.read_text())
        async with asyncio.timeout(10):
            await page("Page.handleJavaScriptDialog", accept=True)
            found = (await resolved)["object"]["objectId"]
            call = {"functionDeclaration": "function () { return this.nodeName }"}
            named = await page("Runtime.callFunctionOn", objectId=found, **call)
            await shown
        assert named["result"]["value"] == "#document"


async def test_no_binding_takes_the_place_of_what_the_recorder_uses(open_session: Any, refused: Any) -> None:
    async with open_session({}) as opened:
        page = await opened.page_client()
        await page("Runtime.enable")
        for name in ("JSON", "addEventListener", "recorder", "Date", "WeakMap", "onresize", "__proto__"):
            with pytest.raises(refused, match="that name is taken"):
                await page("Runtime.addBinding", name=name)
        await page("Runtime.addBinding", name="__my_own")
        await page.go("http://shop.example/")
        assert await page.run("typeof __my_own") == "function"


@pytest.mark.parametrize("command", ["Runtime.evaluate", "Runtime.callFunctionOn", "DOM.resolveNode"])
async def test_no_number_of_one_document_leads_into_the_next(open_session: Any, command: str) -> None:
    """While a page leaves, the browser keeps commands back and hands them to the process that comes."""

    async def ask(page: Any, number: int) -> Any:
        if command == "Runtime.evaluate":
            return await page(command, contextId=number, expression=f"typeof {BINDING}")
        call = {"functionDeclaration": f"() => typeof {BINDING}"}
        if command == "Runtime.callFunctionOn":
            return await page(command, executionContextId=number, **call)
        node = await page(command, executionContextId=number, backendNodeId=next(nodes))
        return await page("Runtime.callFunctionOn", objectId=node["object"]["objectId"], **call)

    async with open_session({}) as opened:
        page = await opened.page_client()
        await page("Runtime.enable")
        answers: list[Any] = []
        for number in range(CHANGES):
            await page.go(SITES[number % 2])
            numbers = await worlds_of(page, 1 + number % 4)
            nodes = itertools.cycle(range(1, 9))  # some of the document, in whichever process
            answers += await asyncio.gather(*(ask(page, n) for n in numbers), return_exceptions=True)
            going = asyncio.ensure_future(page("Page.navigate", url=SITES[(number + 1) % 2]))
            while not going.done():
                answers += await asyncio.gather(
                    *(ask(page, number) for number in numbers), return_exceptions=True
                )
        found = [answer["result"].get("value") for answer in answers if isinstance(answer, dict)]
        assert set(found) == {"undefined"}
        errors = {str(answer) for answer in answers if not isinstance(answer, dict)}
        assert "Cannot find context with specified id" in errors
