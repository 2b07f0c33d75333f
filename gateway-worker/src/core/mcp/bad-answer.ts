/** A server that answered with something that is no MCP. The message holds no address. */
export class BadAnswer extends Error {}
