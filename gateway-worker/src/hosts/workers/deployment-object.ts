import { DurableObject } from "cloudflare:workers";
import type { DeploymentRecord } from "@agent-env/protocol";
import { unknownDeployment } from "@agent-env/protocol";
import type { PageCaller, PageCookie, Pages } from "../../core/auth/pages.ts";
import { Deployment } from "../../core/deployment/deployment.ts";
import { servingKey } from "../../core/deployment/serving-key.ts";
import { resume, StartFailed, start } from "../../core/deployment/start.ts";
import { Gateway } from "../../core/gateway.ts";
import type { NoteDefect } from "../../core/proxy/site/defects.ts";
import { settingsFrom } from "../../core/settings.ts";
import { pause } from "../../core/timing.ts";
import type { View } from "../../core/view.ts";
import { createApp } from "../../routes/app.ts";
import { HeldDoors } from "./doors.ts";
import type { Environment } from "./environment.ts";
import { workersHost } from "./host.ts";
import { WorkersIn, WorkersOut } from "./in-out.ts";
import { edgeHosts, locate } from "./locate.ts";
import { readRecord } from "./records.ts";
import { workersSql } from "./sql.ts";

/** With nobody asking, a deployment that doesn't come up is left alone after this long, until the next request. */
const TRY_FOR_MS = 600_000;
const TRY_AGAIN_MS = 1_000;

type Served = {
  readonly deployment: Deployment;
  readonly gateway: Gateway;
  readonly app: ReturnType<typeof createApp>;
  /** What of the record it serves by. */
  readonly key: string;
};

/** One deployment's object: the single writer of all that it remembers. */
export class DeploymentObject extends DurableObject<Environment> {
  readonly #doors = new HeldDoors();
  #served: Served | null = null;
  #record: DeploymentRecord | null = null;
  #isStarting = false;
  #askedMs = 0;

  /** Answers what needs the deployment: MCP, guarded bodies, and all routes but pages and raw APIs. */
  override async fetch(request: Request): Promise<Response> {
    const place = locate(new URL(request.url), this.env);
    const served = place === null ? null : await this.#serve(place.deployment);
    if (place === null || served === null) return Response.json(unknownDeployment(place?.deployment ?? "").body, { status: 404 });
    const out = new WorkersOut(request);
    const incoming = new WorkersIn(request, place);
    const handling = served.gateway.handle(incoming, out).catch((error: unknown) => out.fail(error));
    this.ctx.waitUntil(handling);
    const first = await Promise.race([handling, out.response]);
    if (first !== null && "role" in first)
      return await served.app.fetch(new Request(new URL(incoming.path, request.url), request), { base: incoming.base, caller: first });
    return await out.response;
  }

  /** What the Worker needs to route requests by itself; null for a deployment that there isn't. */
  async view(deployment: string): Promise<View | null> {
    const served = await this.#serve(deployment);
    return served?.deployment.view() ?? null;
  }

  /** Trades a page token for a cookie, once. */
  async redeemPage(deployment: string, page: Parameters<Pages["redeem"]>[0]): Promise<PageCookie | null> {
    const served = await this.#serve(deployment);
    return served?.deployment.pages.redeem(page) ?? null;
  }

  /** Whom a page's cookie lets in. */
  async openPage(deployment: string, value: string): Promise<PageCaller | null> {
    const served = await this.#serve(deployment);
    return served?.deployment.pages.open(value) ?? null;
  }

  /** Counts what a site does that a prefix can't carry. */
  async noteDefect(deployment: string, ...defect: Parameters<NoteDefect>): Promise<void> {
    const served = await this.#serve(deployment);
    served?.deployment.noteDefect(...defect);
  }

  async #serve(id: string): Promise<Served | null> {
    this.#askedMs = Date.now();
    const record = await readRecord(this.env, id);
    if (record === null) return null;
    const isRevised = this.#record?.revision !== record.revision;
    this.#record = record;
    if (this.#served?.key !== servingKey(record)) this.#served = this.#load(record);
    else if (isRevised) this.#served.deployment.noteRecord();
    if (this.#served.deployment.notReady !== null) this.#start(this.#served);
    return this.#served;
  }

  #load(record: DeploymentRecord): Served {
    const host = workersHost({
      context: this.ctx,
      doors: this.#doors,
      sql: workersSql(this.ctx.storage),
      committed: () => this.ctx.storage.sync(),
      record: () => this.#record ?? record,
      out: null,
    });
    const deployment = new Deployment(host, settingsFrom(this.env), edgeHosts(this.env, record));
    resume(deployment);
    const gateway = new Gateway(deployment);
    return { deployment, gateway, app: createApp(gateway), key: servingKey(record) };
  }

  /** Starts the deployment in the background, again and again while somebody asks for it. */
  #start(served: Served): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    this.ctx.waitUntil(
      this.#untilReady(served).finally(() => {
        this.#isStarting = false;
      }),
    );
  }

  async #untilReady(served: Served): Promise<void> {
    while (this.#served === served && Date.now() - this.#askedMs < TRY_FOR_MS) {
      try {
        return await start(served.deployment);
      } catch (error) {
        if (!(error instanceof StartFailed)) throw error;
        served.deployment.host.log(error.message);
        await pause(TRY_AGAIN_MS);
      }
    }
  }
}
