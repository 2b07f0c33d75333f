import { site } from "./shop.ts";

await site.serve();
