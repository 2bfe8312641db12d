"""A server made with the Python library, over Streamable HTTP. Usage: python_server.py <port>"""

import asyncio
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return f"the sum is {a + b}"


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("the disk is on fire")


@server.tool()
async def wait(seconds: float) -> str:
    """Waits."""
    await asyncio.sleep(seconds)
    return "waited"


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
