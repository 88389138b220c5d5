from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

import guard_lang as guard

SPEC = """
event { kind: string  tool: string?  args: json?  text: string? }
property looked = G (kind == "call" and tool == "refund" -> O (kind == "result" and tool == "look_up"))
property single = G (count(kind == "call" and tool == "refund") <= 1)
property no_secret = never (kind == "result" and text contains "SECRET")
enforce looked { violated => block "look the order up before you refund it" }
enforce single { violated => block "one refund is enough" }
enforce no_secret { violated => block "the result holds a secret" }
"""

WANTED = [("refund", 7), ("look_up", 7), ("refund", 7), ("refund", 7), ("peek", 7)]
EXPECTED = [
    "look the order up before you refund it",
    "order 7: 20 EUR",
    "refunded 7",
    "one refund is enough",
    "the result holds a secret",
]
MADE: list[str] = []


def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}: 20 EUR"


def refund(order: int) -> str:
    """Refund an order."""
    MADE.append("refund")
    return f"refunded {order}"


def peek(order: int) -> str:
    """Read a secret."""
    return "SECRET"


@pytest.fixture(autouse=True)
def fresh() -> None:
    MADE.clear()


@pytest.fixture
def live() -> guard.Monitor:
    return guard.Spec.from_source(SPEC).monitor()


def matches(told: list[str]) -> bool:
    return len(told) == len(EXPECTED) and all(expected in text for expected, text in zip(EXPECTED, told))


def broken() -> guard.Session:
    """A session whose monitor fails."""
    monitor = guard.Spec.from_source(SPEC).monitor()
    monitor.close()
    return monitor.session()


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_langgraph(live: guard.Monitor, asynchronous: bool) -> None:
    pytest.importorskip("langchain.agents")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage

    from guard_lang.langgraph import GuardMiddleware

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def run(middleware: GuardMiddleware, thread: str) -> list[ToolMessage]:
        calls = [{"name": name, "args": {"order": order}, "type": "tool_call"} for name, order in WANTED]
        script = [AIMessage("", tool_calls=[{**call, "id": f"c{number}"}]) for number, call in enumerate(calls)]
        model = Scripted(messages=iter([*script, AIMessage("done")]))
        agent = create_agent(model, [look_up, refund, peek], middleware=[middleware])
        config = {"configurable": {"thread_id": thread}}
        question = {"messages": [{"role": "user", "content": "refund order 7"}]}
        invoked = asyncio.run(agent.ainvoke(question, config)) if asynchronous else agent.invoke(question, config)  # type: ignore[call-overload]
        return [message for message in invoked["messages"] if isinstance(message, ToolMessage)]

    middleware = GuardMiddleware(live)
    # Each thread of the configuration is a run of its own.
    for thread in ("a", "b"):
        messages = run(middleware, thread)
        assert matches([str(message.content) for message in messages]), messages
        assert [message.status for message in messages] == ["error", "success", "success", "error", "error"]
    assert MADE == ["refund", "refund"]
    with pytest.raises(guard.MonitorError):
        run(GuardMiddleware(broken()), "c")
    assert MADE == ["refund", "refund"]


@pytest.mark.filterwarnings("ignore")
def test_openai_agents(live: guard.Monitor) -> None:
    pytest.importorskip("agents")
    from agents import Agent, ModelResponse, Runner, Usage, WebSearchTool, function_tool, set_tracing_disabled
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from guard_lang.openai_agents import guard_tools

    set_tracing_disabled(True)
    words = ResponseOutputText(type="output_text", text="done", annotations=[])
    done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[words])

    class Scripted(Model):
        def __init__(self) -> None:
            calls = [
                ResponseFunctionToolCall(
                    type="function_call", call_id=f"c{number}", name=name, arguments=json.dumps({"order": order})
                )
                for number, (name, order) in enumerate(WANTED)
            ]
            self.script: Iterator[Any] = iter([*calls, done])

        async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
            return ModelResponse(output=[next(self.script)], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    tools = [function_tool(tool) for tool in (look_up, refund, peek)]

    def run(session: guard.Monitor | guard.Session) -> list[str]:
        agent = Agent(name="shop", tools=list(guard_tools(session, tools)), model=Scripted())
        result = asyncio.run(Runner.run(agent, "refund order 7"))
        return [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]

    for name in ("a", "b"):
        with live.session(name):
            told = run(live)
            assert matches(told), told
    assert MADE == ["refund", "refund"]
    with pytest.raises(Exception):  # noqa: B017, PT011 - the SDK wraps it
        run(broken())
    assert MADE == ["refund", "refund"]
    with pytest.raises(TypeError, match="cannot be judged before"):
        guard_tools(live, [WebSearchTool()])


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.filterwarnings("ignore")
def test_mcp(live: guard.Monitor, side: str) -> None:
    pytest.importorskip("mcp.server.mcpserver")
    from mcp.client.client import Client
    from mcp.server.mcpserver import MCPServer

    from guard_lang.mcp import guard_client, guard_server

    async def run(session: guard.Monitor | guard.Session) -> list[tuple[bool, str]]:
        server = MCPServer("orders", middleware=[guard_server(session)] if side == "server" else [])
        for tool in (look_up, refund, peek):
            server.tool()(tool)
        told = []
        async with Client(server) as client:
            if side == "client":
                guard_client(session, client)
            assert len((await client.list_tools()).tools) == 3
            for name, order in WANTED:
                result = await client.call_tool(name, {"order": order})
                told.append((bool(result.is_error), result.content[0].text))  # type: ignore[union-attr]
        return told

    told = asyncio.run(run(live))
    assert matches([text for _, text in told]), told
    assert [error for error, _ in told] == [True, False, False, True, True]
    assert MADE == ["refund"]
    with pytest.raises(BaseException):  # noqa: B017, PT011 - a group, or an error of the protocol
        asyncio.run(run(broken()))
    assert MADE == ["refund"]


WITHHELD = """
event { kind: string  tool: string?  args: json?  text: string?  error: bool? }
property no_secret = never (kind == "result" and text contains "SECRET")
property few = G (count(kind == "result" and tool == "refund" and error != true) <= 1)
enforce no_secret { violated => block "withheld" }
enforce few { violated => block "one refund" }
"""

#: A text in two blocks, in which no block holds the secret.
SPLIT = [{"type": "text", "text": "SEC"}, {"type": "text", "text": "RET"}]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_langgraph_withholds(asynchronous: bool) -> None:
    pytest.importorskip("langchain.agents")
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command

    from guard_lang.langgraph import GuardMiddleware

    def run(answer: Any, live: guard.Monitor | None = None) -> Any:
        middleware = GuardMiddleware((live or guard.Spec.from_source(WITHHELD).monitor()).session())
        call = {"name": "refund", "args": {}, "id": "c0"}

        class Request:
            tool_call = call

        def handler(_: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        async def later(request: Any) -> Any:
            return handler(request)

        if asynchronous:
            return asyncio.run(middleware.awrap_tool_call(Request(), later))
        return middleware.wrap_tool_call(Request(), handler)

    def message(content: Any, **more: Any) -> Any:
        return ToolMessage(content, tool_call_id="c0", **more)

    answer: Any
    file = {"type": "file", "base64": "YSBTRUNSRVQ=", "mime_type": "text/plain"}
    for answer in (
        message("a SECRET", status="error"),
        message(SPLIT),
        message(["SEC", {"type": "text", "text": "RET"}]),
        message([{"type": "other", "said": {"SECRET": 1}}]),
        message([file]),
        ValueError("a SECRET"),
        Command(update={"messages": [message("refunded")]}),
        "SECRET",
        None,
    ):
        told = run(answer)
        assert told.status == "error"
        assert told.content.startswith("withheld"), answer
    for answer in (message("refunded"), message([{"type": "text", "text": "refunded"}])):
        assert run(answer) is answer
    with pytest.raises(ValueError, match="no such order"):
        run(ValueError("no such order"))


@pytest.mark.filterwarnings("ignore")
def test_openai_agents_withholds() -> None:
    pytest.importorskip("agents")
    from agents import ToolOutputFileContent, ToolOutputText, function_tool
    from agents.tool_context import ToolContext

    from guard_lang.openai_agents import guard_tools

    class Shown:
        def __str__(self) -> str:
            return "a SECRET"

    def run(answer: Any, **options: Any) -> Any:
        def read() -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        (tool,) = guard_tools(guard.Spec.from_source(WITHHELD).monitor(), [function_tool(read, **options)])
        context = ToolContext(context=None, tool_name="read", tool_call_id="c", tool_arguments="{}")
        return asyncio.run(tool.on_invoke_tool(context, "{}"))  # type: ignore[arg-type]

    for answer in (
        "a SECRET",
        SPLIT,
        [ToolOutputText(text="SEC"), ToolOutputText(text="RET")],
        ToolOutputFileContent(file_data="YSBTRUNSRVQ="),
        {"k": "line\nSECRET"},
        Shown(),
    ):
        assert run(answer).startswith("denied: withheld"), answer

    def told(_: Any, error: Exception) -> str:
        return str(error)

    assert run(ValueError("a SECRET"), failure_error_function=told) == "denied: withheld"
    assert run(ValueError("a SECRET"), failure_error_function=None) == "denied: withheld"
    assert run([ToolOutputText(text="20 EUR")])[0].text == "20 EUR"


MCP_ANSWERS: dict[str, Any] = {
    "text": {"content": [{"type": "text", "text": "a SECRET"}]},
    "split": {"content": SPLIT},
    "resource": {"content": [{"type": "resource", "resource": {"uri": "x://y", "text": "a SECRET"}}]},
    "blob": {"content": [{"type": "resource", "resource": {"uri": "x://y", "blob": "YSBTRUNSRVQ="}}]},
    "link": {"content": [{"type": "resource_link", "name": "n", "uri": "x://y", "description": "a SECRET"}]},
    "name": {"content": [{"type": "resource_link", "name": "SECRET", "uri": "x://y"}]},
    "structured": {"content": [], "structuredContent": {"key": "a SECRET"}},
    "key": {"content": [], "structuredContent": {"SECRET": None}},
    "meta": {"content": [], "_meta": {"a/b": "a SECRET"}},
    "image": {"content": [{"type": "image", "mimeType": "image/png", "data": "YSBTRUNSRVQ="}]},
    "failed": {"content": [{"type": "text", "text": "a SECRET"}], "isError": True},
}


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("name", [*MCP_ANSWERS, "raises", "fine"])
@pytest.mark.filterwarnings("ignore")
def test_mcp_withholds(side: str, name: str) -> None:
    pytest.importorskip("mcp.server.mcpserver")
    from mcp.client.client import Client
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import CallToolResult

    from guard_lang.mcp import guard_client, guard_server

    live = guard.Spec.from_source(WITHHELD).monitor()
    server = MCPServer("s", middleware=[guard_server(live)] if side == "server" else [])

    def read():  # type: ignore[no-untyped-def]
        if name == "raises":
            raise ToolError("a SECRET")
        if name == "fine":
            return CallToolResult.model_validate({"content": [{"type": "text", "text": "20 EUR"}]})
        return CallToolResult.model_validate(MCP_ANSWERS[name])

    # The server evaluates annotations, and the class is not known to the module.
    read.__annotations__ = {"return": CallToolResult}
    server.tool()(read)

    async def run() -> Any:
        async with Client(server) as client:
            if side == "client":
                guard_client(live, client)
            return await client.call_tool("read", {})

    told = asyncio.run(run())
    if name == "fine":
        assert (told.is_error, told.content[0].text) == (False, "20 EUR")
    else:
        assert (told.is_error, told.content[0].text, told.structured_content) == (True, "withheld", None)


@pytest.mark.filterwarnings("ignore")
def test_mcp_errors() -> None:
    """An error of the protocol is withheld; what does not say that a call ended is no success."""
    pytest.importorskip("mcp.server.mcpserver")
    from mcp.shared.exceptions import MCPError

    from guard_lang.mcp import _outcome, guard_client

    class Client:
        async def call_tool(self, name: str, arguments: Any = None) -> Any:
            raise MCPError(code=-1, message="x", data={"more": "a SECRET"})

    client = guard_client(guard.Spec.from_source(WITHHELD).monitor(), Client())
    assert asyncio.run(client.call_tool("read", {})).content[0].text == "withheld"
    told = {
        "content": {"content": []},
        "failed": {"content": [], "isError": True},
        "question": {"resultType": "input_required", "inputRequests": {}},
        "nothing": {},
        "odd": {"content": [], "isError": "no"},
        "case": {"content": [], "iserror": True},
    }
    errors = {name: _outcome(result)["error"] for name, result in told.items()}
    assert (errors.pop("content"), errors.pop("failed")) == (False, True)
    assert all(error != error for error in errors.values())  # noqa: PLR0124 - unknown is not a number
