import { stripVTControlCharacters } from "node:util";

/** One line of the Engine's build or pull output, as far as it is read. */
export type EngineLine = {
  readonly stream?: string;
  readonly status?: string;
  readonly id?: string;
  readonly progress?: string;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
  readonly aux?: { readonly ID?: string };
};

/** The JSON lines of an Engine's stream, which come in chunks that end anywhere. Throws where a line is no JSON object. */
export async function* engineLines(stream: AsyncIterable<string | Uint8Array>): AsyncGenerator<EngineLine> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield engineLine(line);
  }
  if (rest.trim() !== "") yield engineLine(rest);
}

function engineLine(line: string): EngineLine {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== "object" || parsed === null) throw new Error(`the Engine sent ${JSON.stringify(line)} among its build output`);
  return parsed;
}

export type BuildStep = { readonly step: number; readonly steps: number; readonly instruction: string };

/** What a build has said so far: its whole log, the step it is at, the first error, the image it made. */
export class BuildLog {
  #text = "";
  #unfinished = "";
  step: BuildStep | null = null;
  error: string | null = null;
  imageId: string | null = null;
  /** The container of the step that ran last, as far as it had one. */
  runningIn: string | null = null;

  /** Takes one message; gives the whole lines of output that it completes, without their ends. */
  add(message: EngineLine): string[] {
    if (message.aux?.ID) this.imageId = message.aux.ID;
    if (message.error) this.error ??= message.errorDetail?.message ?? message.error;
    // The builder colours what a step writes to standard error.
    const text = stripVTControlCharacters(message.stream ?? (message.status ? `${message.status}\n` : ""));
    this.#text += text;
    const lines = (this.#unfinished + text).split("\n");
    this.#unfinished = lines.pop() ?? "";
    for (const line of lines) {
      this.step = stepOf(line) ?? this.step;
      this.runningIn = /^ ---> Running in ([0-9a-f]+)$/.exec(line)?.[1] ?? this.runningIn;
    }
    // A carriage return starts the line anew on a terminal: what it overwrote is in the log only.
    return lines.map((line) => line.replace(/\r$/, "").split("\r").pop() ?? "").filter((line) => line.trim() !== "");
  }

  get text(): string {
    return this.error === null ? this.#text : `${this.#text}${this.error}\n`;
  }

  /** The last lines of output, oldest first. */
  tail(lines: number): string {
    return this.#text.trimEnd().split("\n").slice(-lines).join("\n");
  }
}

/** `Step 2/5 : RUN npm ci` as the classic builder says it; null for any other line. */
export function stepOf(line: string): BuildStep | null {
  const found = /^Step (\d+)\/(\d+) : (.*)$/.exec(line);
  if (found === null) return null;
  const [, step, steps, instruction = ""] = found;
  return { step: Number(step), steps: Number(steps), instruction };
}
