/** A server that answered with something that is no MCP. The message holds no address. */
export class BadAnswer extends Error {}

/** A server that doesn't take the handshake of its era. Nothing else was sent, or what was had been refused before. */
export class HandshakeFailed extends BadAnswer {}
