import { environmentCard } from "@agent-env/sdk";
import { shop } from "./shop.ts";

// Relative to the address of the card's site. Without it the card says "/mcp".
const card = environmentCard({ name: "shoprel", additionalInterfaces: [{ url: "mcp", transport: "mcp" }] });

await shop(card, "{environment_name}_").serve();
