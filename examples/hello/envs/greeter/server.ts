import { environmentCard, McpEnvironment, z } from "@agent-env/sdk";

const env = new McpEnvironment(environmentCard({ name: "greeter" }));
const greeted: string[] = [];

env.tool("{environment_name}_greet", {
  description: "Greets somebody, and remembers it.",
  input: { name: z.string().min(1).describe("Whom to greet.") },
  run({ name }) {
    greeted.push(name);
    return `Hello, ${name}!`;
  },
});

env.tool("{environment_name}_greeted", {
  description: "Lists everybody who was greeted.",
  annotations: { readOnlyHint: true },
  output: z.array(z.string()),
  run: () => greeted,
});

await env.serve();
