/** The front end of a site that needs none of its own, as a program: `PORT`, `HOST`, `BACKEND_URL`. */
import { once } from "node:events";
import { UserError } from "@agent-env/protocol";
import { passThrough } from "./front-end/pass-through.ts";
import { cantListen, closeGracefully, portFrom, portOf } from "./place.ts";

try {
  await run();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(`${error.message}\n${error.why}\n${error.next}`);
  process.exitCode = error.exitCode;
}

async function run(): Promise<void> {
  const backend = backendFrom(process.env["BACKEND_URL"] ?? "");
  const place = { host: process.env["HOST"] || "0.0.0.0", port: portFrom("PORT", 80) };
  const server = passThrough(backend).listen(place.port, place.host);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw cantListen("the front end", place, error);
  });
  console.error(`the front end listens on ${place.host}:${portOf(server)} and passes everything on to ${backend.origin}`);
  const end = () => void closeGracefully(server).then(() => process.exit(0));
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}

function backendFrom(given: string): URL {
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return new URL(given);
  throw new UserError({
    what: `BACKEND_URL=${JSON.stringify(given)} is no http address`,
    why: "the front end passes every request on to it",
    next: "set it to the site's backend, for example http://shop-website-backend:8000",
    exitCode: 2,
  });
}
