import { environmentCard, WebsiteEnvironment, z } from "@agent-env/sdk";
import { catalogue, echoed } from "./catalogue.ts";

/** The environment that is measured, as its author would write it: `node site.ts PORT`. */
const env = new WebsiteEnvironment(environmentCard({ name: "shop" }));
env.page("/", catalogue);
env.tool("echo", { description: "Says it again.", input: { message: z.string() }, run: ({ message }) => echoed(message) });
await env.serve({ host: "127.0.0.1", port: Number(process.argv[2]) });
