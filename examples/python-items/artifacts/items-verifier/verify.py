"""Calls the tools of `items` as MCP clients do, with Python's standard library alone."""

import json
import urllib.request


def verify(mcp_url):
    items = McpClient(mcp_url, role="alice")
    tools = [tool["name"] for tool in items.request("tools/list")["tools"]]
    added = items.call("items_add", title="lamp")
    again = items.call("items_add", title="lamp")
    listed = items.call("items_list")["structuredContent"]["result"]
    return [
        {
            "id": "tools",
            "description": "the tools carry the environment's name",
            "result": {"items_add", "items_list"} <= set(tools),
        },
        {
            "id": "seed",
            "description": "the item that was loaded is listed first",
            "result": listed[0]["title"] == "umbrella",
        },
        {
            "id": "role",
            "description": "what a tool adds is listed with the caller's role",
            "result": not added.get("isError") and listed[1] == {"title": "lamp", "by": "alice"},
        },
        {
            "id": "error",
            "description": "a title that is taken is refused with a code, and adds nothing",
            "result": again["isError"] and again["structuredContent"]["code"] == "duplicate_title" and len(listed) == 2,
        },
    ]


class McpClient:
    """One MCP session over streamable HTTP."""

    def __init__(self, url, role):
        self.url = url
        self.id = 0
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "AgentEnv-Role": role,
        }
        client = {"name": "items-verifier", "version": "1.0"}
        self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.headers["MCP-Protocol-Version"] = "2025-11-25"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool, **arguments):
        return self.request("tools/call", name=tool, arguments=arguments)

    def request(self, method, **params):
        self.id += 1
        answer = self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def send(self, message):
        request = urllib.request.Request(self.url, json.dumps(message).encode(), self.headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            self.headers["Mcp-Session-Id"] = response.headers.get("Mcp-Session-Id", self.headers.get("Mcp-Session-Id", ""))
            body = response.read().decode()
            kind = response.headers.get_content_type()
        if "id" not in message:
            return None
        # Streamed answers are server-sent events, one message each.
        texts = [line[5:] for line in body.splitlines() if line.startswith("data:")] if kind == "text/event-stream" else [body]
        for answer in map(json.loads, filter(str.strip, texts)):
            if answer.get("id") == message["id"]:
                return answer
        raise RuntimeError(f"no answer to {message['method']}: {body[:200]!r}")
