export * from "./card.ts";
export * from "./deployment.ts";
export * from "./errors.ts";
export * from "./records.ts";
