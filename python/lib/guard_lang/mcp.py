"""Model Context Protocol: tool calls of a client or of a server are judged before they run. Requires `mcp` 2.

server = MCPServer("orders", middleware=[guard_server(spec.monitor())])
guard_client(spec.monitor(), client)
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable
from typing import Any, Callable, TypeVar

from mcp.server.context import ServerMiddleware
from mcp.types import CallToolResult, TextContent

from ._errors import Denied
from ._guard import is_failed_call, text_of, to_json
from ._live import Monitor, Session
from ._text import UNKNOWN

Client = TypeVar("Client")


def guard_client(guard: Monitor | Session, client: Client) -> Client:
    """Guard `call_tool` of a `Client` or `ClientSession`. A denial is a result with `is_error`, which the model reads."""
    call_tool: Callable[..., Awaitable[Any]] = client.call_tool  # type: ignore[attr-defined]

    @functools.wraps(call_tool)
    async def guarded(name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        session = guard if isinstance(guard, Session) else guard.current()
        try:
            return await session.acall(
                name, arguments or {}, functools.partial(call_tool, name, arguments, *args, **kwargs), None, _outcome
            )
        except Denied as denied:
            return _result(denied)

    client.call_tool = guarded  # type: ignore[attr-defined]
    return client


def guard_server(guard: Monitor | Session) -> ServerMiddleware[Any]:
    """Return a middleware for `MCPServer(middleware=[…])` that judges the tool calls of all its clients."""

    async def middleware(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        session = guard if isinstance(guard, Session) else guard.current()
        params = ctx.params or {}
        try:
            return await session.acall(params["name"], params.get("arguments") or {}, lambda: call_next(ctx), None, _outcome)
        except Denied as denied:
            return _result(denied)

    return middleware


def _outcome(result: Any) -> dict[str, Any]:
    """Tell what a tool answered, as `guard proxy` does; a server's own answer may be a dict of the wire."""
    told = result if isinstance(result, dict) else result.model_dump(mode="json", by_alias=True, exclude_none=True)
    written = to_json(told)
    text, failed = text_of(written, of_server=True), is_failed_call(written)
    return {
        "result": told,
        "text": UNKNOWN if text is None else text,
        "error": UNKNOWN if failed is None else failed,
    }


def _result(denied: Denied) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=str(denied))], is_error=True)
