from html import escape
from typing import Annotated

from agentenv_protocol import AgentEnvEnvironment, DataPart, ToolContext, environment_card, get_data, reset_data, tool
from pydantic import Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

Text = Annotated[str, Field(description="What to post.", min_length=1)]


@environment_card(name="board")
class Board(AgentEnvEnvironment):
    """A message board: people post with the page's form, agents with a tool."""

    def __init__(self):
        self.messages = []

    def post(self, text: str, by: str | None) -> None:
        self.messages.append({"text": text, "by": by})

    @tool(name="{environment_name}_post", structured_output=False)
    def post_message(self, text: Text, ctx: ToolContext) -> str:
        """Posts a message in the caller's name."""
        self.post(text, ctx.caller.role)
        return f"posted, {len(self.messages)} in all"

    @tool(name="{environment_name}_read", annotations={"readOnlyHint": True})
    def read_messages(self) -> list[dict]:
        """Lists the messages, oldest first."""
        return self.messages

    @reset_data
    async def reset(self):
        self.messages.clear()

    @get_data
    async def export(self):
        return [DataPart(data={"messages": self.messages})]


board = Board()
app = board.create_app()


# Every address on the page is relative, so it holds under a gateway's prefix too.
@app.custom_route("/", methods=["GET"])
async def page(_request: Request) -> Response:
    messages = "".join(f"<li><b>{escape(m['by'] or 'a visitor')}</b>: {escape(m['text'])}</li>" for m in board.messages)
    form = '<form method="post" action="messages"><input name="text" required><button>Post</button></form>'
    return HTMLResponse(f'<!doctype html><html lang="en"><title>Board</title><h1>Board</h1><ol>{messages}</ol>{form}</html>')


@app.custom_route("/messages", methods=["POST"])
async def posted(request: Request) -> Response:
    form = await request.form()
    board.post(str(form["text"]), by=None)
    return RedirectResponse("./", status_code=303)


@app.custom_route("/api/messages", methods=["GET"])
async def messages(_request: Request) -> Response:
    return JSONResponse({"messages": board.messages})


@app.custom_route("/api/health", methods=["GET"])
async def health(_request: Request) -> Response:
    return JSONResponse({"ok": True})


if __name__ == "__main__":
    board.serve()
