import { isJsonObject, UNIVERSE_HEADER } from "@agent-env/protocol";
import { pause } from "../deploy/until.ts";
import { objectIn } from "./card-answer-checks.ts";
import { allOf, type Check, cut, failed, failedWithout, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { callsOf, extensionOf } from "./extensions.ts";
import type { Exchange } from "./http.ts";
import { mcpReading } from "./mcp-reading.ts";
import { McpTalk } from "./mcp-talk.ts";

const CLOCK_URI = "urn:agentenv:clock/v1";
/** A time that nothing shows by chance. */
const THEN = "2001-02-03T04:05:06Z";
const NEAR_MS = 300_000;
/** A clock that shows seconds has moved by then. */
const MOVES_WITHIN_MS = 2_000;
const EVERY_MS = 200;
const MOST_TOOLS = 5;

/** What is promised of the universe's time (3-wire §clock, §website). */
export const CLOCK_CHECKS: readonly Check[] = [
  {
    id: "clock-header",
    group: "clock",
    level: "recommended",
    title: `the time that the environment shows is that of ${UNIVERSE_HEADER}`,
    on: ["server"],
    async run(subject) {
      for (const source of await sourcesOf(subject)) {
        const verdict = await timeVerdict(source, subject.http.signal);
        if (verdict !== null) return verdict;
      }
      return skipped("neither its page nor a tool that only reads shows the current time");
    },
  },
  {
    id: "clock-sync",
    group: "clock",
    level: "required",
    title: "a method of clock/v1 takes `env_get_time_url`",
    run: (subject) => syncVerdict(subject, (calls) => calls.some(takesUrl)),
  },
  {
    id: "clock-sync-first",
    group: "clock",
    level: "recommended",
    title: "the first method of clock/v1 is the one that takes `env_get_time_url`",
    run: (subject) => syncVerdict(subject, ([first, ...others]) => first === undefined || takesUrl(first) || !others.some(takesUrl)),
  },
  {
    id: "clock-gateway",
    group: "clock",
    level: "required",
    title: "the gateway's clock shows what it was set to, and nothing once it was cleared",
    on: ["gateway"],
    changes: true,
    run: gatewayVerdict,
  },
];

type Source = (headers: Readonly<Record<string, string>>) => Promise<Exchange>;

/** What may show the time: the page at `/`, and tools that only read and need no arguments. */
async function sourcesOf(subject: Subject): Promise<Source[]> {
  const page: Source = (headers) => subject.http.ask("/", { headers });
  const mcp = await mcpReading(subject);
  if (mcp.is !== "open") return [page];
  const names = mcp.tools.filter(isSafe).slice(0, MOST_TOOLS);
  return [
    page,
    ...names.map(
      (tool): Source =>
        (headers) =>
          called(subject, mcp.talk.path, String(tool["name"]), headers),
    ),
  ];
}

function isSafe({ annotations, inputSchema }: Readonly<Record<string, unknown>>): boolean {
  const required = isJsonObject(inputSchema) ? inputSchema["required"] : undefined;
  return isJsonObject(annotations) && annotations["readOnlyHint"] === true && !(Array.isArray(required) && required.length > 0);
}

async function called({ http }: Subject, path: string, name: string, headers: Readonly<Record<string, string>>): Promise<Exchange> {
  const talk = await McpTalk.open(http, path, headers);
  if (!(talk instanceof McpTalk)) return talk;
  const { exchange } = await talk.request("tools/call", { name, arguments: {} });
  await talk.close();
  return exchange;
}

/** Whether a source shows the header's time or the machine's; null where it shows neither. */
async function timeVerdict(ask: Source, signal: AbortSignal): Promise<Verdict | null> {
  const plain = timesIn((await ask({})).text);
  const deadline = performance.now() + MOVES_WITHIN_MS;
  for (;;) {
    const answer = await ask({ [UNIVERSE_HEADER]: THEN });
    const times = timesIn(answer.text).filter((time) => !plain.includes(time));
    if (times.some((time) => isNear(time, Date.parse(THEN)))) return passed;
    const machine = times.filter((time) => isNear(time, Date.now()));
    if (machine.length > 0) {
      return failed(answer, {
        expected: `a time about ${THEN}`,
        got: `${machine.join(", ")} in ${cut(answer.text)}`,
        fix: `take the time of ${UNIVERSE_HEADER} where a request has it (now() of the SDK)`,
      });
    }
    // What is near now and stands still was stored moments ago; a clock of whole seconds stands still that long as well.
    if (!plain.some((time) => isNear(time, Date.now())) || performance.now() > deadline) return null;
    await pause(EVERY_MS, signal);
  }
}

function timesIn(text: string): string[] {
  return text.match(/\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?/g) ?? [];
}

function isNear(time: string, momentMs: number): boolean {
  const text = time.replace(" ", "T");
  return Math.abs(Date.parse(/[Zz]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`) - momentMs) < NEAR_MS;
}

type Call = ReturnType<typeof callsOf>[number];

function syncVerdict({ card }: Subject, holds: (calls: readonly Call[]) => boolean): Verdict {
  const extension = extensionOf(card, CLOCK_URI);
  if (extension === undefined) return skipped("lists no clock/v1: a sync leaves it out");
  const calls = callsOf(extension);
  if (holds(calls)) return passed;
  return failedWithout({
    sent: `GET the card: ${CLOCK_URI}`,
    expected: "a method whose request schema has `env_get_time_url`, the first of them",
    got: cut(JSON.stringify(extension)),
    fix: 'let the first method of clock/v1 take {"env_get_time_url"}: a sync calls that one',
  });
}

function takesUrl({ request }: Call): boolean {
  const properties = request?.["properties"];
  return isJsonObject(properties) && "env_get_time_url" in properties;
}

async function gatewayVerdict({ http, card }: Subject): Promise<Verdict> {
  const extension = extensionOf(card, CLOCK_URI);
  const endpoint = (op: string) => (extension === undefined ? null : callsOf(extension).find((call) => call.op === op)?.endpoint);
  const [state, set, get, clear] = ["state", "set_time", "get_time", "clear"].map(endpoint);
  if (!state || !set || !get || !clear) return skipped("lists no clock/v1 with set_time, get_time, state and clear");
  const before = await http.ask(state);
  if (before.status === 401 || before.status === 403) return skipped("the token may not set the clock (scope control)");
  if (objectIn(before.text)?.["armed"] === true) return skipped("its clock is armed, and is left as it is");
  const armed = await http.ask(set, { method: "PUT", body: { virtual_time: THEN, virtual_seconds_per_real_second: 0 } });
  if (armed.status === 409) return skipped("one of its servers has a tool get_time, so its clock can't be armed");
  try {
    const shown = await http.ask(get);
    return allOf([
      () => (armed.status === 200 ? passed : failed(armed, { expected: "HTTP 200", fix: "take an RFC 3339 time and a rate" })),
      () =>
        objectIn(shown.text)?.["virtual_time"] === THEN
          ? passed
          : failed(shown, { expected: `{"virtual_time":"${THEN}"}`, fix: "show the time that was set: at rate 0 it stands still" }),
      async () => clearedVerdict(await http.ask(clear, { method: "POST", body: {} }), await http.ask(get)),
    ]);
  } finally {
    await http.ask(clear, { method: "POST", body: {} });
  }
}

function clearedVerdict(cleared: Exchange, shown: Exchange): Verdict {
  if (cleared.status !== 200) return failed(cleared, { expected: "HTTP 200", fix: 'answer a clear with {"ok":true,"armed":false}' });
  return shown.status === 404 ? passed : failed(shown, { expected: "HTTP 404", fix: "show no time while the clock isn't armed" });
}
