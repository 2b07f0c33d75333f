import type { SitePlace } from "@agent-env/protocol";
import type { CDPSession } from "playwright-core";

/** A frame of a stack as the browser's protocol has it; lines and columns count from 0. */
type Frame = { readonly scriptId: string; readonly url: string; readonly lineNumber: number; readonly columnNumber: number };
type Stack = { readonly callFrames: readonly Frame[]; readonly parent?: Stack };
type Position = readonly [line: number, column: number];
type Range = { readonly url: string; readonly from: Position; readonly to: Position };

/** The shim is longer than this, so that no shorter script need be read. */
const SHORTEST_SHIM = 1_000;
const SHIM_MARK = "agentEnvPrefix";

/** Tells where in a site's files something was called: frames of the gateway's script, and of our own, are none of the site's. */
export class CallSites {
  readonly #shims = new Map<string, Range>();
  #reading: Promise<void> = Promise.resolve();

  /** Call it before the page loads anything. */
  static async of(session: CDPSession): Promise<CallSites> {
    const sites = new CallSites();
    session.on("Debugger.scriptParsed", (script) => {
      if (script.url === "" || (script.length ?? 0) < SHORTEST_SHIM) return;
      sites.#reading = sites.#reading.then(async () => {
        const source = await sourceOf(session, script.scriptId);
        if (!source.includes(SHIM_MARK)) return;
        const { url, startLine, startColumn, endLine, endColumn } = script;
        sites.#shims.set(script.scriptId, { url, from: [startLine, startColumn], to: [endLine, endColumn] });
      });
    });
    await session.send("Debugger.enable");
    await session.send("Debugger.setSkipAllPauses", { skip: true });
    await session.send("Debugger.setAsyncCallStackDepth", { maxDepth: 4 });
    return sites;
  }

  /** Resolves once all scripts that have come so far are known. */
  async known(): Promise<void> {
    await this.#reading;
  }

  /** The innermost place of the site's own in a stack. */
  ofStack(stack: Stack | undefined): SitePlace | null {
    const frame = stack?.callFrames.find(({ scriptId, url }) => url !== "" && !this.#shims.has(scriptId));
    if (frame !== undefined) return this.at(frame.url, frame.lineNumber, frame.columnNumber);
    return stack?.parent === undefined ? null : this.ofStack(stack.parent);
  }

  /** The same in a stack as a script reads it. */
  ofText(stack: string): SitePlace | null {
    const frames = [...stack.matchAll(/(https?:\/\/[^\s()]+):(\d+):(\d+)\)?$/gm)];
    const own = frames.find(([, url = "", line, column]) => {
      const at: Position = [Number(line) - 1, Number(column) - 1];
      return ![...this.#shims.values()].some((range) => range.url === url && !isBefore(at, range.from) && !isBefore(range.to, at));
    });
    return own === undefined ? null : this.at(own[1] ?? "", Number(own[2]) - 1, Number(own[3]) - 1);
  }

  /**
   * A place of the browser's, which counts from 0. In a page that the gateway has put its script into, the line is the site's
   * again; the column isn't known there.
   */
  at(file: string, line: number, column: number): SitePlace {
    const shim = [...this.#shims.values()].find(({ url }) => url === file);
    if (shim === undefined) return { file, line: line + 1, column: column + 1 };
    const added = line >= shim.to[0] ? shim.to[0] - shim.from[0] : 0;
    return { file, line: line - added + 1, column: 1 };
  }
}

/** Empty for a script that went with its page before it could be read. */
async function sourceOf(session: CDPSession, scriptId: string): Promise<string> {
  const read = await Promise.allSettled([session.send("Debugger.getScriptSource", { scriptId })]);
  return read[0].status === "fulfilled" ? read[0].value.scriptSource : "";
}

function isBefore([line, column]: Position, [otherLine, otherColumn]: Position): boolean {
  return line < otherLine || (line === otherLine && column < otherColumn);
}
