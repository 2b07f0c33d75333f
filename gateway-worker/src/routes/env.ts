import type { Caller } from "../core/auth/caller.ts";

/** What a host gives to the app beside the request: who asks, and what the caller's path has before the app's. */
export type AppEnv = { Bindings: { readonly base?: string; readonly caller: Caller } };
