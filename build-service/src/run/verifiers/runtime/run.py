"""Runs one Python verifier and hands its rows to agent-env over descriptor 3."""

import asyncio
import importlib.util
import inspect
import json
import resource
import signal
import sys
import traceback


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    # The file would be in the script's arguments otherwise.
    del sys.argv[1:]
    limit_memory(request["memoryMb"] * 1024 * 1024)
    with open(3, "w", encoding="utf-8", closefd=False) as channel:
        channel.write(json.dumps(outcome(request), allow_nan=False) + "\n")
    # Whatever the script leaves running, the process stays until its group is ended from outside.
    while True:
        signal.pause()


def outcome(request: dict) -> dict:
    try:
        verify = load(request["script"])
    except BaseException as error:
        return failed("load", error)
    if verify is None:
        return {"failed": {"kind": "missing", "message": ""}}
    try:
        rows = asyncio.run(call(verify, request["mcpUrl"], request["run"]))
        # Once here, so that what JSON can't say is the script's error.
        json.dumps(rows, allow_nan=False)
    except BaseException as error:
        return failed("memory" if isinstance(error, MemoryError) else "threw", error)
    return {"rows": rows}


def load(path: str):
    spec = importlib.util.spec_from_file_location("verifier", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["verifier"] = module
    spec.loader.exec_module(module)
    verify = getattr(module, "verify", None)
    return verify if callable(verify) else None


async def call(verify, mcp_url: str, run):
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(verify).parameters.values()
    takes_run = len([one for one in parameters if one.kind in positional]) > 1 or any(
        one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters
    )
    rows = verify(mcp_url, run) if takes_run else verify(mcp_url)
    return await rows if inspect.isawaitable(rows) else rows


def failed(kind: str, error: BaseException) -> dict:
    traceback.print_exception(type(error), error, error.__traceback__)
    return {"failed": {"kind": kind, "message": "".join(traceback.format_exception_only(type(error), error)).strip()}}


def limit_memory(size_bytes: int) -> None:
    # macOS knows the limit and doesn't keep it: there agent-env's own watch is what ends the script.
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, size_bytes))


main()
