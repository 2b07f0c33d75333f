/** How long nothing may come of a body that is read whole. One that streams through has the proxy's own limit. */
export const BODY_SILENCE_MS = 30_000;
