import type { ForApp } from "../core/gateway.ts";

/** What a host gives to the app beside the request: what the gateway gives it, and what the caller's path has before the app's. */
export type AppEnv = { Bindings: ForApp & { readonly base?: string } };
