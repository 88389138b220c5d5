"""OpenAI Agents SDK: each tool runs behind the guard.

The SDK's own tool guardrails see the call but not its outcome, and do not run for every kind of tool; a wrapper around the
function sees both.
"""

import asyncio
import functools
import json
import sys

from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from guard_client import Denied, Guard


def guarded(guard, function):
    """A tool of the SDK that asks the guard before it runs. A denial is what the tool returns, so the model reads it."""

    @functools.wraps(function)
    def run(context: ToolContext, order: int) -> str:
        try:
            return guard.call(function.__name__, {"order": order}, context.tool_call_id, lambda: function(order))
        except Denied as reason:
            return f"denied: {reason}"

    run.__annotations__ = {"context": ToolContext, "order": int, "return": str}
    del run.__wrapped__
    return function_tool(run)


def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}: 20 EUR"


def refund(order: int) -> str:
    """Refund an order."""
    return f"refunded {order}"


class Scripted(Model):
    """Stands in for a model: says what it is told to, whatever it is asked."""

    def __init__(self, script):
        self.script = iter(script)

    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=[next(self.script)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def wants(number, name, order):
    return ResponseFunctionToolCall(
        type="function_call", call_id=f"c{number}", name=name, arguments=json.dumps({"order": order})
    )


DONE = ResponseOutputMessage(
    id="m", type="message", role="assistant", status="completed",
    content=[ResponseOutputText(type="output_text", text="done", annotations=[])],
)


async def main(address):
    set_tracing_disabled(True)
    guard = Guard("openai", address)
    script = [wants(0, "refund", 7), wants(1, "look_up", 7), wants(2, "refund", 7), DONE]
    tools = [guarded(guard, look_up), guarded(guard, refund)]
    agent = Agent(name="shop", tools=tools, model=Scripted(script))
    result = await Runner.run(agent, "refund order 7")
    for item in result.new_items:
        if item.type == "tool_call_output_item":
            print(item.output)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7437"))
