/** A container's output as the Engine multiplexes it: frames of an 8-byte head (stream, length) and their bytes. */
const HEAD_BYTES = 8;

/** The text of both streams, in the order it came. Bytes after the last whole frame are left out. */
export function logText(frames: Uint8Array): string {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (let frame = frameAt(frames, at); frame !== null; frame = frameAt(frames, at)) {
    parts.push(frame.bytes);
    at = frame.end;
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

/** Whole lines of standard output from a stream of frames that arrive in chunks. */
export async function* outputLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending: Uint8Array = new Uint8Array();
  let text = "";
  for await (const chunk of stream) {
    pending = Buffer.concat([pending, chunk]);
    for (let frame = frameAt(pending, 0); frame !== null; frame = frameAt(pending, 0)) {
      if (frame.isStdout) text += decoder.decode(frame.bytes, { stream: true });
      pending = pending.subarray(frame.end);
    }
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
  if (text !== "") yield text;
}

function frameAt(bytes: Uint8Array, at: number): { isStdout: boolean; bytes: Uint8Array; end: number } | null {
  if (bytes.length < at + HEAD_BYTES) return null;
  const size = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(4);
  const end = at + HEAD_BYTES + size;
  if (bytes.length < end) return null;
  return { isStdout: bytes[at] === 1, bytes: bytes.subarray(at + HEAD_BYTES, end), end };
}
