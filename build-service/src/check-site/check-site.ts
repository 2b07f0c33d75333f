import {
  type CheckedSite,
  HEADERS_ONLY,
  SITE_LAYERS_HEADER,
  type SiteMode,
  type SiteVerdict,
  type SiteWalk,
  UserError,
} from "@agent-env/protocol";
import type { Browser } from "playwright-core";
import type { Emit } from "../report/events.ts";
import type { Act } from "./act-script.ts";
import { brokenFindings, compare, elsewhere, hostNotes, needsSecondLook, policyFindings } from "./compare.ts";
import { type Found, merged } from "./findings.ts";
import { hasFailed } from "./host-view.ts";
import type { SiteAddress } from "./site-address.ts";
import { type WalkOptions, walk } from "./walk.ts";
import { actKey, isPath, type WalkRecord } from "./walk-record.ts";

/** A site that is up, with where it is in each mode. */
export type SiteUp = {
  readonly site: string;
  /** Its addresses, each ending with a slash; null where it hasn't one of that kind. */
  readonly host: string | null;
  readonly prefix: string;
  /** Its front end makes its own links under the prefix. */
  readonly keepsPrefix: boolean;
  /** What a browser opens first, once, where callers need a token; null where they don't. */
  entrance(mode: SiteMode): Promise<string | null>;
};

export type CheckOptions = {
  readonly browser: Browser;
  readonly mode: SiteMode | "both";
  readonly acts: readonly Act[];
  /** The act script's name, for messages. */
  readonly actFile: string;
  readonly mostPages: number;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Gives the site the data back that it had at the start. */
  reset(): Promise<void>;
};

/** What a check finds out of a site. */
export type Checked = Omit<CheckedSite, "images">;

const REASONS = 5;

/**
 * Walks a site in a browser, on a host of its own and under a prefix, and compares (7-sites §6). Throws a `UserError` where the
 * act script doesn't fit the site in the first mode that is walked.
 */
export async function checkSite(site: SiteUp, options: CheckOptions): Promise<Checked> {
  const walks = new Walks(site, options);
  if (options.mode === "prefix") return ofPrefixAlone(site, await walks.first("prefix"));
  const host = await walks.first("host");
  const broken = brokenFindings(host);
  if (options.mode === "host" || broken.length > 0) {
    const verdict = options.mode === "host" ? null : "broken";
    return { ...report(site, { verdict, found: broken, notes: hostNotes(host) }), host: shown(host), prefix: null };
  }
  const these = pathsOf(host);
  const prefix = await walks.walked("prefix", { these });
  const compared = await walks.confirmed(host, prefix);
  const policy = site.keepsPrefix ? { findings: [], notes: [] } : policyFindings(prefix, compared);
  const found = [...compared, ...policy.findings];
  const judged = found.length > 0 ? { verdict: "host-only" as const } : await walks.verdictWithoutLayers(host, these);
  const notes = [...hostNotes(host), ...policy.notes];
  return { ...report(site, { ...judged, found, notes }), host: shown(host), prefix: shown(prefix) };
}

function ofPrefixAlone(site: SiteUp, prefix: WalkRecord): Checked {
  const found = [...compare([], prefix), ...brokenFindings(prefix)];
  const { findings, notes } = policyFindings(prefix, found);
  return { ...report(site, { verdict: null, found: [...found, ...findings], notes }), host: null, prefix: shown(prefix) };
}

type Judged = {
  readonly verdict: SiteVerdict | null;
  readonly found: readonly Found[];
  readonly notes: readonly string[];
  readonly reasons?: readonly string[];
};

function report({ site }: SiteUp, { verdict, found, notes, reasons }: Judged): Omit<Checked, "host" | "prefix"> {
  const findings = merged(found);
  return { site, verdict, reasons: [...(reasons ?? findings.map(({ text }) => text).slice(0, REASONS))], findings, notes: [...notes] };
}

/** The walks of one check, each from the same data. */
class Walks {
  readonly #site: SiteUp;
  readonly #options: CheckOptions;

  constructor(site: SiteUp, options: CheckOptions) {
    this.#site = site;
    this.#options = options;
  }

  /** Finds the pages by their links. */
  async first(mode: SiteMode): Promise<WalkRecord> {
    const record = await this.walked(mode, { most: this.#options.mostPages });
    const { acts, actFile } = this.#options;
    const failed = record.pages.find(({ key, failure }) => !isPath(key) && failure !== null);
    const act = acts.find(({ line }) => failed?.key === actKey(line));
    if (failed === undefined || act === undefined) return record;
    throw new UserError({
      what: `${actFile}:${act.line}: ${act.text}: it can't be done in ${mode} mode`,
      why: `on page ${failed.path}: ${failed.failure}`,
      next: "correct that line, or the site, and check again",
    });
  }

  async walked(
    mode: SiteMode,
    pages: WalkOptions["pages"],
    more: Partial<Pick<WalkOptions, "headers" | "onPage">> = {},
  ): Promise<WalkRecord> {
    const { browser, acts, signal, emit, reset } = this.#options;
    const { site } = this.#site;
    await reset();
    const name = more.headers === undefined ? `${mode} mode` : `${mode} mode without L3 and L4`;
    const record = await walk({
      browser,
      address: this.#address(mode),
      entrance: await this.#site.entrance(mode),
      headers: more.headers ?? {},
      acts,
      pages,
      signal,
      onPage: (page) => {
        emit({ kind: "log", entry: site, level: "detail", message: `${name}: ${page.path}` });
        return more.onPage?.(page) ?? true;
      },
    });
    const count = record.pages.length;
    emit({ kind: "log", entry: site, level: "info", message: `${name}: ${count} ${count === 1 ? "page" : "pages"}, ${record.seconds} s` });
    return record;
  }

  /** What differs under a prefix, and would not differ between two walks in host mode. */
  async confirmed(host: WalkRecord, prefix: WalkRecord): Promise<Found[]> {
    const found = compare([host], prefix);
    if (!needsSecondLook(found)) return found;
    const these = pathsOf(host);
    return compare([host, await this.walked("host", { these })], prefix);
  }

  /** Whether a site without findings under the prefix needs its pages rewritten for that. */
  async verdictWithoutLayers(host: WalkRecord, these: readonly string[]): Promise<{ verdict: SiteVerdict; reasons: readonly string[] }> {
    if (this.#site.keepsPrefix) return { verdict: "any", reasons: [] };
    const bare = await this.walked(
      "prefix",
      { these },
      {
        headers: { [SITE_LAYERS_HEADER]: HEADERS_ONLY },
        onPage: (page) => {
          const found = compare([host], {
            mode: "prefix",
            base: this.#site.prefix,
            pages: [page],
            cookies: [],
            cutShort: null,
            seconds: 0,
          });
          return found.every((one) => needsSecondLook([one]));
        },
      },
    );
    const found = merged(await this.confirmed(host, bare));
    if (found.length === 0) return { verdict: "any", reasons: [] };
    return {
      verdict: "prefix-with-shim",
      reasons: found.slice(0, REASONS).map(({ text, layer }) => `without ${layer ?? "L3 and L4"}: ${text}`),
    };
  }

  #address(mode: SiteMode): SiteAddress {
    const base = mode === "host" ? this.#site.host : this.#site.prefix;
    if (base === null) throw new Error(`${this.#site.site} has no host of its own`);
    return { mode, base };
  }
}

/** The pages that a walk opened, in its order. */
function pathsOf({ pages }: WalkRecord): string[] {
  return pages.map(({ key }) => key).filter(isPath);
}

function shown(record: WalkRecord): SiteWalk {
  return {
    address: record.base,
    pages: record.pages.map(({ key, title, status, sent }) => ({
      path: key,
      title,
      status,
      requests: sent.length,
      failed: sent.filter(hasFailed).length,
    })),
    cut_short: record.cutShort,
    elsewhere: elsewhere(record),
    seconds: record.seconds,
  };
}
