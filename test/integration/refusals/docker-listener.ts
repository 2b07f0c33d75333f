import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "../../fixtures/folder.ts";

/** Listens where a Docker Engine would, answers nobody, and counts who calls. */
export type DockerListener = { readonly dockerHost: string; connections(): number; close(): Promise<void> };

export async function dockerListener(): Promise<DockerListener> {
  const folder = temporaryFolder();
  const path = join(folder.path, "docker.sock");
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    dockerHost: `unix://${path}`,
    connections: () => count,
    async close() {
      await new Promise((resolve) => server.close(resolve));
      folder[Symbol.dispose]();
    },
  };
}
