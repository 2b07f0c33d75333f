import http from "node:http";
import { secondsOf } from "../row.ts";
import type { Endpoint } from "./sessions.ts";

const CHUNK = Buffer.alloc(1_000_000, "0123456789");

/** How long it takes to read so many bytes. Throws when there are more or fewer. */
export function downloadSeconds(from: Endpoint, bytes: number): Promise<number> {
  return secondsOf(async () => {
    let read = 0;
    const answer = await answered(http.request(from.url, { headers: headersOf(from) }).end());
    for await (const chunk of answer) read += chunk.length;
    if (answer.statusCode !== 200 || read !== bytes) throw new Error(`${from.url}: ${answer.statusCode} with ${read} bytes`);
  });
}

/** How long it takes to send so many bytes, until the server says that it has read them. */
export function uploadSeconds(to: Endpoint, bytes: number): Promise<number> {
  return secondsOf(async () => {
    const sent = http.request(to.url, { method: "POST", headers: { ...headersOf(to), "content-length": bytes } });
    const answering = answered(sent);
    for (let left = bytes; left > 0; left -= CHUNK.length)
      if (!sent.write(CHUNK)) await new Promise((resolve) => sent.once("drain", resolve));
    sent.end();
    const answer = await answering;
    let text = "";
    for await (const chunk of answer) text += chunk;
    if (text !== String(bytes)) throw new Error(`${to.url}: ${answer.statusCode}, which says ${JSON.stringify(text.slice(0, 200))}`);
  });
}

function headersOf({ token }: Endpoint): http.OutgoingHttpHeaders {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

function answered(sent: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
  });
}
