import { bareIdProblem, type Kind, LOCAL_PREFIX, lastSegment, looksEncoded } from "@agent-env/protocol";
import { idProblem } from "../bundle/ref-values.ts";
import { shownValue } from "../bundle/shown.ts";

/** Why nothing can be put under `id` (4-bundle §2.2): one sentence; null if something can. */
export function putIdProblem(kind: Kind, id: string): string | null {
  if (id === "") return "an id can't be empty";
  const wrong = idProblem(id) ?? bareProblem(id);
  if (wrong !== null) return wrong;
  if (kind === "artifact" && lastSegment(id).includes("__"))
    return `${shownValue(id)} can't be an artifact's id: "__" is kept for the ids of what is made along with an artifact`;
  return null;
}

function bareProblem(id: string): string | null {
  if (id.startsWith("@")) return null;
  if (looksEncoded(id)) return `${shownValue(id)} can't be an id: it looks like the store's own form of an id that starts with "@local/"`;
  const reason = bareIdProblem(id);
  return reason === null ? null : `${shownValue(id)} is no legal id: ${reason}`;
}

/** Why an entity of that id can't reference `target`: a shared store must not point into one person's machine. */
export function referenceProblem(id: string, target: string): string | null {
  if (id.startsWith(LOCAL_PREFIX) || !target.startsWith(LOCAL_PREFIX)) return null;
  return `${shownValue(target)} is an id of this machine only, and ${shownValue(id)} is one of the shared store: put what it names under a bare id, and name that`;
}
