import { lines, make } from "../../fixtures/make-bundle.ts";
import { diskBuilder } from "./disk-builder.ts";
import { type Change, dyingStore } from "./dying-store.ts";
import { type MakeOrder, openStore } from "./stores.ts";

// Plans and makes a bundle, as a run does without its command line, and says as JSON what it changed. It may be told to die.
const order: MakeOrder = JSON.parse(process.argv[2] ?? "");
const store = await openStore(order.store);
const changes: Change[] = [];
const { plan, events } = await make({
  folder: order.folder,
  store: dyingStore(store, changes, order.death),
  builder: diskBuilder(order.engine),
});
await store.close();
const waits = events.filter(({ kind }) => kind === "wait");
console.log(JSON.stringify({ changes, lines: lines(plan), waits }));
