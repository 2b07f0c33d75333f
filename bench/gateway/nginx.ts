import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { which } from "../../scripts/setup/command.ts";
import { type Program, startProgram } from "./program.ts";

/** What `listen`s, within one `server`. */
type Site = { readonly name: string; readonly port: number; readonly upstream: string | null; readonly locations: readonly string[] };

const BIG_BYTES = 100_000_000;

/** The sizes that the bench asks for, under the paths of its origin. */
export const FILES = { json: "/data.json", page: "/page.html", big: "/big.bin" } as const;
export const BIG = { path: FILES.big, bytes: BIG_BYTES } as const;

/** nginx with 2 kB of JSON, a page of 5 kB, and 100 MB: what stands behind `/svc` and `/website`. */
export function startOrigin(folder: string, port: number): Promise<Program> {
  const root = join(folder, "files");
  mkdirSync(root, { recursive: true });
  const items = Array.from({ length: 32 }, (_, at) => ({ id: at, name: `item number ${at}`, price: at * 3.5 }));
  writeFileSync(join(root, FILES.json), JSON.stringify(items).padEnd(2_000, " "));
  writeFileSync(join(root, FILES.page), pageOf(5_000));
  writeFileSync(join(root, FILES.big), Buffer.alloc(BIG_BYTES, "0123456789"));
  return start(folder, { name: "origin", port, upstream: null, locations: [`location / { root ${root}; }`] });
}

/** nginx as a proxy that does nothing more: before the tool at `/mcp` and `/sink`, before the origin at all other paths. */
export function startProxy(folder: string, at: { port: number; echoPort: number; originPort: number }): Promise<Program> {
  const passed = 'proxy_http_version 1.1; proxy_set_header Connection "";';
  const streamed = "proxy_request_buffering off; proxy_max_temp_file_size 0;";
  return start(folder, {
    name: "proxy",
    port: at.port,
    upstream:
      `upstream echo { server 127.0.0.1:${at.echoPort}; keepalive 512; keepalive_requests 100000000; }\n` +
      `upstream origin { server 127.0.0.1:${at.originPort}; keepalive 512; keepalive_requests 100000000; }`,
    locations: [
      `location = /mcp { proxy_pass http://echo; ${passed} }`,
      `location = /sink { proxy_pass http://echo; ${passed} ${streamed} }`,
      `location / { proxy_pass http://origin; ${passed} ${streamed} }`,
    ],
  });
}

/** A page with the links, styles and scripts that pages have. */
function pageOf(bytes: number): string {
  const head =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><link rel="stylesheet" href="/site.css"><script src="/app.js" defer></script></head><body><h1>Shop</h1><ul>';
  const tail = "</ul></body></html>";
  let rows = "";
  for (let at = 0; head.length + rows.length + tail.length < bytes - 120; at++)
    rows += `<li><a href="/items/${at}"><img src="/images/${at}.png" alt="">Item ${at}</a><p>Some words about it.</p></li>`;
  return (head + rows).padEnd(bytes - tail.length, " ") + tail;
}

/** One process, with nothing outside the folder. */
function start(folder: string, { name, port, upstream, locations }: Site): Promise<Program> {
  const nginx = which("nginx");
  if (nginx === null) throw new Error("no nginx on PATH: npm run setup -- --bench installs it");
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${own}/${kind};`);
  const config = [
    "daemon off; master_process off;",
    `pid ${own}/nginx.pid; error_log stderr;`,
    "events { worker_connections 2048; }",
    "http {",
    "access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; client_max_body_size 0; open_file_cache max=10;",
    "types { text/html html; application/json json; }",
    ...temporary,
    upstream ?? "",
    `server { listen 127.0.0.1:${port}; ${locations.join("\n")} }`,
    "}",
  ];
  const file = join(own, "nginx.conf");
  writeFileSync(file, config.join("\n"));
  const argv = [nginx, "-e", "stderr", "-p", own, "-c", file];
  return startProgram({ name, folder, argv, readyUrl: `http://127.0.0.1:${port}/` });
}
