import { environmentCard, jsonData, McpEnvironment, z } from "@agent-env/sdk";

const Item = z.object({ title: z.string().min(1), by: z.string().nullable().default(null) });
let items: z.infer<typeof Item>[] = [];

const env = new McpEnvironment(environmentCard({ name: "__name__" }));

env.tool("{environment_name}_add", {
  description: "Adds an item to the list.",
  input: { title: z.string().min(1).describe("The item's title.") },
  run({ title }, { caller }) {
    items.push({ title, by: caller.role });
    return `added ${title}`;
  },
});

env.tool("{environment_name}_list", {
  description: "Lists the items, oldest first.",
  annotations: { readOnlyHint: true },
  output: z.array(Item),
  run: () => items,
});

env.data(
  jsonData(z.object({ items: z.array(Item) }), {
    reset: () => {
      items = [];
    },
    add: (seed) => items.push(...seed.items),
    get: () => ({ items }),
  }),
);

await env.serve();
