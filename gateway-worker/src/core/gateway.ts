import type { Deployment } from "./deployment/deployment.ts";
import { Step } from "./deployment/step.ts";
import { McpEndpoint } from "./mcp/endpoint.ts";
import { Bytes } from "./proxy/bytes.ts";
import { replyError } from "./proxy/forward.ts";
import { GuardedService } from "./proxy/guard.ts";
import { type Route, route } from "./route.ts";
import type { In, Out } from "./seam.ts";
import type { View } from "./view.ts";

/** Requests that need the deployment object: MCP, and whatever is MCP on its way to a server. */
export class Gateway {
  readonly deployment: Deployment;
  readonly step: Step;
  readonly #mcp: McpEndpoint;
  readonly #guard: GuardedService;
  readonly #bytes: Bytes;

  constructor(deployment: Deployment) {
    this.deployment = deployment;
    this.#mcp = new McpEndpoint(deployment);
    this.step = new Step(deployment, this.#mcp.calls);
    this.#bytes = new Bytes(deployment.host, { watch: deployment.requestWatch });
    this.#guard = new GuardedService(deployment);
  }

  /** Answers a request. False: it is for the app of all other routes, and nothing was done. */
  async handle(request: In, answer: Out): Promise<boolean> {
    const view = this.deployment.view();
    const to = route(view, request);
    if (to.to === "app") return false;
    if (to.to === "mcp") await this.#mcp.handle(request, answer);
    else if (to.to === "service" && to.guarded) await this.#guard.handle(view, to, request, answer);
    else await serveBytes(this.#bytes, view, to, request, answer);
    return true;
  }
}

/** Whether a route needs no deployment object, only the view. */
export function isBytes(to: Route): boolean {
  return to.to === "refused" || to.to === "redirect" || to.to === "site" || (to.to === "service" && !to.guarded);
}

/** Answers what needs no deployment object. */
export async function serveBytes(bytes: Bytes, view: View, to: Route, request: In, answer: Out): Promise<void> {
  switch (to.to) {
    case "refused":
      return replyError(request, answer, to.error);
    case "redirect":
      return answer.reply(308, [
        ["location", to.location],
        ["content-length", "0"],
      ]);
    case "site":
      return await bytes.site(view, to, request, answer);
    case "service":
      return await bytes.service(view, to, request, answer);
    default:
      throw new Error(`a route to ${to.to} needs the deployment object`);
  }
}
