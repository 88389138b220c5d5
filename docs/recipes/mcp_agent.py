"""An MCP client and a server, both of the official Python SDK, with `guard proxy` between them.

    python3 docs/recipes/mcp_agent.py guard

The client starts `guard proxy SPEC -- SERVER` where it would start `SERVER`; neither knows of the other's neighbour.
"""

import asyncio
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()


def serve():
    """Two tools over the standard streams."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("orders")

    @server.tool()
    def look_up(order: int) -> str:
        """What an order cost."""
        return f"order {order}: 20 EUR"

    @server.tool()
    def refund(order: int) -> str:
        """Gives the money back."""
        return f"refunded {order}"

    server.run("stdio")


async def ask(guard):
    """A client that refunds before it has looked."""
    from mcp import StdioServerParameters
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    proxy = StdioServerParameters(
        command=guard,
        args=["proxy", str(HERE.with_name("refund.guard")), "--", sys.executable, str(HERE), "serve"],
    )
    async with Client(stdio_client(proxy)) as client:
        tools = await client.list_tools()
        print("tools:", ", ".join(sorted(tool.name for tool in tools.tools)))
        for tool, order in [("refund", 7), ("look_up", 7), ("refund", 7), ("refund", 8)]:
            result = await client.call_tool(tool, {"order": order})
            text = result.content[0].text
            print(f"{tool} {'denied: ' if result.is_error else ''}{text}")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        asyncio.run(ask(sys.argv[1]))
