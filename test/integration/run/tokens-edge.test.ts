import { afterAll, beforeAll, expect, test } from "vitest";
import { type Edge, helloBehindEdge } from "../../fixtures/edge.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await helloBehindEdge("--auth", "token");
}, 240_000);
afterAll(() => edge.stop(), 60_000);

test("N1 N4 the edge gateway asks callers of a deployment for its tokens, and takes those that are printed for it", async () => {
  const { cli, deployment, url } = edge;
  const base = `${url}/d/${deployment.deployment_id}`;
  const status = async (path: string, token?: string) =>
    (await fetch(base + path, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })).status;
  const token = async (...options: string[]) =>
    (await cli.run("gateway", "token", "--deployment", deployment.deployment_id, ...options)).out.trim();
  expect([await status("/health"), await status("/state"), await status("/website/guestbook/")]).toEqual([200, 401, 401]);
  const [agent, grader] = [await token(), await token("--preset", "grader")];
  expect([await status("/state", agent), await status("/state", grader), await status("/website/guestbook/", agent)]).toEqual([
    403, 200, 200,
  ]);

  const link = await token("--page", "guestbook");
  const first = await fetch(link, { redirect: "manual" });
  expect([first.status, (await fetch(link, { redirect: "manual" })).status]).toEqual([303, 401]);
  const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect((await fetch(new URL(first.headers.get("location") ?? "", link), { headers: { cookie } })).status).toBe(200);
  expect((await fetch(`${base}/state`, { headers: { cookie } })).status).toBe(401);
});
