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
from ._live import Monitor, Session

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
    """Tell what a tool answered; a server's own answer may be a dict of the wire."""
    told = result if isinstance(result, dict) else result.model_dump(mode="json", by_alias=True, exclude_none=True)
    if "content" not in told:
        return {}
    texts = [part["text"] for part in told["content"] if part.get("type") == "text"]
    return {"result": told, "text": "\n".join(texts), "error": bool(told.get("isError", False))}


def _result(denied: Denied) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=str(denied))], is_error=True)
