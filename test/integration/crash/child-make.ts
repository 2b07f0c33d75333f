import { once } from "node:events";
import { materialize } from "../../../build-service/src/bundle/materialize.ts";
import { lines, plan } from "../../fixtures/make-bundle.ts";
import { diskBuilder } from "./disk-builder.ts";
import { type Change, dyingStore } from "./dying-store.ts";
import { type MakeOrder, openStore } from "./stores.ts";

// Plans and makes a bundle, as a run does without its command line, and says as JSON what it changed. It may be told to die, or
// to build only when it gets a line.
const order: MakeOrder = JSON.parse(process.argv[2] ?? "");
const store = await openStore(order.store);
const changes: Change[] = [];
const builder = diskBuilder(order.engine);
const held = order.holdBuilds ? once(process.stdin, "data") : Promise.resolve();
const request = { folder: order.folder, store: dyingStore(store, changes, order.death), builder };
const made = await materialize(await plan(request), {
  store: request.store,
  emit: (event) => {
    if (event.kind === "wait") console.log(JSON.stringify(event));
  },
  builder: { ...builder, build: (...args) => held.then(() => builder.build(...args)) },
  buildsAtOnce: 2,
  runId: "run-test",
  signal: new AbortController().signal,
});
await store.close();
console.log(JSON.stringify({ changes, lines: lines(made) }));
process.stdin.destroy();
