import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { temporaryFolder } from "../../fixtures/folder.ts";

/** Listens where a Docker Engine would, and keeps who called: connections, and requests as `GET /_ping`. */
export type DockerListener = {
  readonly dockerHost: string;
  connections(): number;
  requests(): readonly string[];
  close(): Promise<void>;
};

/** Answers nobody. */
export function dockerListener(): Promise<DockerListener> {
  return listener((request) => request.socket.destroy());
}

/** An Engine that has no image and takes no order: it answers its ping, and 404 to all else. It models nothing further. */
export function emptyEngine(): Promise<DockerListener> {
  return listener((request, response) => {
    const isPing = request.url?.endsWith("/_ping") === true;
    response.writeHead(isPing ? 200 : 404, { "Content-Type": isPing ? "text/plain" : "application/json" });
    response.end(isPing ? "OK" : JSON.stringify({ message: "no such thing" }));
  });
}

async function listener(answer: RequestListener): Promise<DockerListener> {
  const folder = temporaryFolder();
  const path = join(folder.path, "docker.sock");
  const requests: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    dockerHost: `unix://${path}`,
    connections: () => connections,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      folder[Symbol.dispose]();
    },
  };
}
