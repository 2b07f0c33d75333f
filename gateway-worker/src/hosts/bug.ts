/** What the log says of something that was thrown and is no one's fault but ours. */
export function bugLine(error: unknown): string {
  return `bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
