import { once } from "node:events";
import { UserError } from "@agent-env/protocol";
import { lockOwner, lockWrites } from "../../../build-service/src/bundle/write-locks.ts";
import { putNextVersion } from "../../../build-service/src/store/versions.ts";
import { openStore, type StorePlace } from "./stores.ts";

// Opens a store, says so, and when it gets a line writes the next version of an artifact, under its lock as a put does, and of
// an env of its type, without.
const order: { store: StorePlace; envType: string } = JSON.parse(process.argv[2] ?? "");
const store = await openStore(order.store);
// What is opened for the first write would else keep the writers apart.
await store.objects.put(`ready/${process.pid}`, "");
console.log("ready");
await once(process.stdin, "data");
const claim = { key: "artifact team/file", id: "team/file", label: "team/file" };
const signal = new AbortController().signal;
const locks = await lockWrites([claim], { store, owner: lockOwner("put"), emit: () => {}, signal });
const artifact = await outcome(putNextVersion(store, "artifact", { id: "team/file", type: "file" }, {}));
for (const lock of locks) await lock.release();
const env = await outcome(putNextVersion(store, "env", { id: "team/env", type: order.envType }, {}));
await store.close();
console.log(JSON.stringify({ artifact, env }));
process.stdin.destroy();

/** The version, or why not. */
async function outcome(put: Promise<{ version: number }>): Promise<number | string> {
  try {
    return (await put).version;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}
