import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import type { AppEnv } from "./env.ts";
import { integerIn } from "./numbers.ts";

const MAX_ROWS = 10_000;

/** `GET /changes`: the database's changelog, each row with who made it (3-wire §changes). */
export function changesRoute({ host, windows, trajectory }: Deployment): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ strict: false });
  app.get("/changes", async (context) => {
    const after = integerIn(context.req.query("after_id"), 0);
    const limit = integerIn(context.req.query("limit"), 1_000);
    const refused = (status: 400 | 404 | 503, error: string) => context.json({ ok: false, error }, status);
    if (after === null || limit === null) return refused(400, "after_id and limit must be integers");
    if (after < 0 || limit < 1 || limit > MAX_ROWS) return refused(400, `after_id must be >= 0 and limit between 1 and ${MAX_ROWS}`);
    if (host.changes === undefined) return refused(404, "this env keeps no changelog");
    // one more tells whether there are more
    const rows = await host.changes.rowsAfter(after, limit + 1);
    if (rows === null) return refused(503, "the changelog can't be read");
    await trajectory.committed();
    return context.json({ changes: windows.attributed(rows.slice(0, limit)), has_more: rows.length > limit });
  });
  return app;
}
