const LONGEST_LINE = 64 * 1024;

/** Cuts what a process prints into lines as it arrives. A line that doesn't end is passed on in pieces. */
export function logLines(onLine: (line: string) => void): { push(chunk: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  let rest = "";
  function take(text: string): void {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replace(/\r$/, ""));
    if (rest.length > LONGEST_LINE) {
      onLine(rest);
      rest = "";
    }
  }
  return {
    push: (chunk) => take(decoder.decode(chunk, { stream: true })),
    end() {
      take(decoder.decode());
      if (rest !== "") onLine(rest);
      rest = "";
    },
  };
}
