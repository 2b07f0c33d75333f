import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import type { AppEnv } from "./env.ts";
import { integerIn } from "./numbers.ts";

/** `GET /trajectory?after=<n>&limit=<n>`: one event a line, oldest first (3-wire §trajectory). */
export function trajectoryRoute({ trajectory }: Deployment): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ strict: false });
  app.get("/trajectory", async (context) => {
    const after = integerIn(context.req.query("after"), 0);
    const limit = integerIn(context.req.query("limit"), Number.MAX_SAFE_INTEGER);
    if (after === null || limit === null || after < 0 || limit < 1)
      return context.json({ ok: false, error: "after must be an integer >= 0 and limit one >= 1" }, 400);
    await trajectory.committed();
    const fields = { "content-type": "application/jsonl", "x-trajectory-total-bytes": String(trajectory.totalBytes()) };
    return new Response(streamed(trajectory.lines(after, limit)), { headers: fields });
  });
  return app;
}

/** A page is read when the last one has been taken. */
function streamed(pages: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      pull: (controller) => {
        const page = pages.next();
        if (page.done === true) controller.close();
        else controller.enqueue(encoder.encode(page.value));
      },
    },
    { highWaterMark: 0 },
  );
}
