export * from "./card.ts";
export * from "./deployment.ts";
export * from "./errors.ts";
export * from "./fold.ts";
export * from "./names.ts";
export * from "./records.ts";
