import base64
import json
from pathlib import Path
from typing import Annotated
from urllib.parse import urlparse
from urllib.request import urlopen

from agentenv_protocol import (
    AgentEnvEnvironment,
    AgentEnvError,
    DataPart,
    FilePart,
    ToolContext,
    add_data,
    environment_card,
    get_data,
    reset_data,
    tool,
)
from pydantic import Field


@environment_card(name="items")
class Items(AgentEnvEnvironment):
    """A list of items that remembers who added each."""

    def __init__(self):
        self.items = []

    @tool(name="{environment_name}_add")
    def add(self, title: Annotated[str, Field(description="Title of the item.")], ctx: ToolContext) -> str:
        """Adds an item to the list."""
        if any(item["title"] == title for item in self.items):
            raise AgentEnvError("duplicate_title", f"there is an item {title} already", hint="choose another title")
        self.items.append({"title": title, "by": ctx.caller.role})
        return f"added {title}"

    @tool(name="{environment_name}_list", annotations={"readOnlyHint": True})
    def list_items(self) -> list[dict]:
        """Lists the items, oldest first."""
        return self.items

    @reset_data
    async def reset(self):
        self.items.clear()

    @add_data
    async def load(self, parts):
        for part in parts:
            self.items.extend(document(part)["items"])

    @get_data
    async def export(self):
        return [DataPart(data={"items": self.items})]


def document(part):
    """The JSON document of a seed, in any of the forms a loader has it."""
    if isinstance(part, DataPart):
        return part.data
    if not isinstance(part, FilePart):
        raise ValueError("a seed is a data or a file part")
    if getattr(part.file, "bytes", None) is not None:
        return json.loads(base64.b64decode(part.file.bytes))
    address = urlparse(part.file.uri)
    if address.scheme == "file":
        return json.loads(Path(address.path).read_text())
    with urlopen(part.file.uri) as response:
        return json.loads(response.read())


if __name__ == "__main__":
    Items().serve()
