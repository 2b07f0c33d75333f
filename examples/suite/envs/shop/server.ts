import { environmentCard } from "@agent-env/sdk";
import { shop } from "./shop.ts";

await shop(environmentCard({ name: "shop" })).serve();
