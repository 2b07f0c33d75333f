import { DurableObject } from "cloudflare:workers";
import { type DeploymentRecord, type GatewayError, noDeployment } from "@agent-env/protocol";
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
import { observerIn, workersHost } from "./host.ts";
import { WorkersIn, WorkersOut } from "./in-out.ts";
import { edgeHosts, locate } from "./locate.ts";
import { type RecordRead, readRecord } from "./records.ts";
import { workersSql } from "./sql.ts";

/** With nobody asking, a deployment that doesn't come up is left alone after this long, until the next request. */
const TRY_FOR_MS = 600_000;
const TRY_AGAIN_MS = 1_000;
/** How often a deployment is looked at that nobody asks for. */
const LOOK_AGAIN_MS = 86_400_000;

/** Under these keys the object keeps whose it is, and the newest revision that it was served by. */
const ID = "deployment";
const REVISION = "revision";
/** Since when its deployment has been seen to be over. */
const ENDED = "ended";
/** Set while something of it has its time: then the object has to be in memory. */
const TIMED = "timed";
/** How much later than a timer in memory the alarm is that stands in for it. */
const ALARM_AFTER_MS = 10_000;

/** Why a deployment isn't served. */
type Unserved = { readonly problem: GatewayError };
/** The same, as it goes from the object to the Worker. */
export type Refusal = Pick<GatewayError, "status" | "body">;

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
  readonly #observer = observerIn(this.env);
  #served: Served | null = null;
  #record: DeploymentRecord | null = null;
  #isStarting = false;
  #askedMs = 0;
  #timedMs: number | null = null;

  /** Answers what needs the deployment: MCP, guarded bodies, and all routes but pages and raw APIs. */
  override async fetch(request: Request): Promise<Response> {
    const place = locate(new URL(request.url), this.env);
    if (place === null) return refusal(noDeployment());
    // a shortened label says whose it is to the Worker alone
    const served = await this.#serve(this.ctx.id.name ?? place.deployment);
    if ("problem" in served) return refusal(served.problem);
    const out = new WorkersOut(request);
    const incoming = new WorkersIn(request, place);
    const handling = served.gateway.handle(incoming, out, async (given) => {
      const forApp = incoming.requestTo(new URL(incoming.path, request.url));
      out.respond(await served.app.fetch(forApp, { base: incoming.base, ...given }));
    });
    this.ctx.waitUntil(handling.catch((error: unknown) => out.fail(error)));
    return await out.response;
  }

  /** What the Worker needs to route requests by itself, or why there is nothing to route to. */
  async view(deployment: string): Promise<View | Refusal> {
    const served = await this.#serve(deployment);
    if (!("problem" in served)) return served.deployment.view();
    const { status, body } = served.problem;
    return { status, body };
  }

  /** Trades a page token for a cookie, once. */
  async redeemPage(deployment: string, page: Parameters<Pages["redeem"]>[0]): Promise<PageCookie | null> {
    const served = await this.#serve(deployment);
    return "problem" in served ? null : served.deployment.pages.redeem(page);
  }

  /** Whom a page's cookie lets in. */
  async openPage(deployment: string, value: string): Promise<PageCaller | null> {
    const served = await this.#serve(deployment);
    return "problem" in served ? null : served.deployment.pages.open(value);
  }

  /** Counts what a site does that a prefix can't carry. */
  async noteDefect(deployment: string, ...defect: Parameters<NoteDefect>): Promise<void> {
    const served = await this.#serve(deployment);
    if (!("problem" in served)) served.deployment.noteDefect(...defect);
  }

  /** The deployment's end may have come. Or something of it has its time, which after a restart nobody may have asked for. */
  override async alarm(): Promise<void> {
    const id = this.ctx.storage.kv.get<string>(ID);
    this.#timedMs = null;
    if (id === undefined) return;
    const read = await this.#read(id);
    if (read.problem !== null && read.isOver) return await this.#end(id);
    this.ctx.storage.kv.delete(ENDED);
    if (this.#served !== null || this.ctx.storage.kv.get(TIMED) !== undefined) await this.#serve(id);
    this.#served?.deployment.triggers.lookLater();
    await this.#setAlarm(read.record);
  }

  /** What an ended deployment remembers is kept for a while, in which it may be given more time. Its connections are cut at once. */
  async #end(id: string): Promise<void> {
    const { storage } = this.ctx;
    const endedMs = storage.kv.get<number>(ENDED) ?? Date.now();
    const forgetMs = endedMs + settingsFrom(this.env).endedKeptMs;
    if (Date.now() >= forgetMs) await storage.deleteAll();
    else {
      storage.kv.put(ENDED, endedMs);
      await storage.setAlarm(Math.min(forgetMs, Date.now() + LOOK_AGAIN_MS));
    }
    if (this.#served === null) return;
    await storage.sync();
    this.ctx.abort(`deployment ${id} has ended`);
  }

  /** While the object is in memory its own timers are exact; the alarm brings it back where it isn't. */
  #wakeAt(ms: number | null): void {
    if ((ms === null) === (this.#timedMs === null)) return;
    this.#timedMs = ms === null ? null : ms + ALARM_AFTER_MS;
    if (ms === null) this.ctx.storage.kv.delete(TIMED);
    else this.ctx.storage.kv.put(TIMED, true);
    if (this.#record !== null) this.ctx.waitUntil(this.#setAlarm(this.#record));
  }

  async #serve(id: string): Promise<Served | Unserved> {
    this.#askedMs = Date.now();
    const read = await this.#read(id);
    if (read.problem !== null) {
      if (read.isOver && this.#served !== null) await this.ctx.storage.setAlarm(Date.now());
      return { problem: read.problem };
    }
    const { record } = read;
    const isRevised = this.#record?.revision !== record.revision;
    // mostly the very one that it is served by
    const isSame = this.#record === record;
    this.#record = record;
    if (this.#served === null || (!isSame && this.#served.key !== servingKey(record))) this.#served = this.#load(record);
    else if (isRevised) this.#served.deployment.noteRecord();
    const served = this.#served;
    if (isRevised) {
      this.ctx.storage.kv.put(ID, id);
      this.ctx.storage.kv.put(REVISION, record.revision);
      this.ctx.storage.kv.delete(ENDED);
      await this.#setAlarm(record);
    }
    if (served.deployment.notReady !== null) this.#start(served);
    return served;
  }

  /** KV may show a revision that is older than the one that was served by before this object left memory. */
  #read(id: string): Promise<RecordRead> {
    return readRecord(this.env, id, { atLeast: this.#record?.revision ?? this.ctx.storage.kv.get<number>(REVISION) ?? 0 });
  }

  /** One that was stopped says so in its record alone, which nobody may ask for: so it is looked at now and then. */
  async #setAlarm(record: DeploymentRecord | null): Promise<void> {
    const expires = record?.expires_at ?? null;
    const end = expires === null ? Number.POSITIVE_INFINITY : Date.parse(expires);
    await this.ctx.storage.setAlarm(Math.min(end, Date.now() + LOOK_AGAIN_MS, this.#timedMs ?? Number.POSITIVE_INFINITY));
  }

  #load(record: DeploymentRecord): Served {
    const host = workersHost({
      context: this.ctx,
      doors: this.#doors,
      sql: workersSql(this.ctx.storage),
      committed: () => this.ctx.storage.sync(),
      record: () => this.#record ?? record,
      out: null,
      observer: this.#observer,
      wakeAt: (ms) => this.#wakeAt(ms),
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

function refusal({ status, body, headers }: GatewayError): Response {
  return Response.json(body, { status, headers: headers.map(([name, value]): [string, string] => [name, value]) });
}
