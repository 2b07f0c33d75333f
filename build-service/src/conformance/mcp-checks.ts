import {
  DEFAULT_MCP_PATH,
  HIDDEN_META_KEY,
  isJsonObject,
  isListedTool,
  type JsonObject,
  ROLE_HEADER,
  SESSION_HEADER,
} from "@agent-env/protocol";
import { canonicalJson } from "../bundle/canonical.ts";
import { type Check, cut, failed, failedWithout, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { type McpReading, mcpBehind, mcpReading, openTalk, toolNames } from "./mcp-reading.ts";
import { McpTalk } from "./mcp-talk.ts";
import { ROLE, ruleEndpoints } from "./rules.ts";
import { servicesOf } from "./services.ts";

const EVERYWHERE = ["server", "service", "gateway"] as const;
/** Nobody's tool. */
const NO_TOOL = "agent_env_conformance_no_such_tool";
/** Names and addresses of this machine for itself. */
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;
const NO_SESSION = "0123456789abcdef0123456789abcdef";

/** What is promised of the declared MCP endpoint (W5, 3-wire §mcp and §website). */
export const MCP_CHECKS: readonly Check[] = [
  {
    id: "mcp",
    group: "mcp",
    level: "required",
    title: "the declared endpoint serves MCP, and exactly the tools on the card",
    on: EVERYWHERE,
    async run(subject) {
      const reading = await mcpReading(subject);
      switch (reading.is) {
        case "none":
          return skipped("declares no MCP interface");
        case "elsewhere":
          return failedWithout({
            sent: "nothing: it is another server's address",
            expected: `an endpoint below ${subject.http.base}`,
            got: `the interface ${JSON.stringify(reading.url)}`,
            fix: 'declare a path, for example {"url":"/mcp","transport":"mcp"}: it holds behind a gateway too',
          });
        case "silent":
          return failed(reading.exchange, {
            expected: "an answer to `initialize` (or to `server/discover`)",
            fix: "serve MCP (streamable HTTP) at the declared endpoint, or take the interface off the card",
          });
        case "unlisted":
          return failed(reading.exchange, { expected: "a list of tools, page by page", got: reading.why, fix: "answer tools/list" });
        case "open":
          return subject.kind === "gateway" ? passed : sameTools(subject, reading);
      }
    },
  },
  opened({
    id: "mcp-tools",
    level: "required",
    title: "each listed tool has a name of its own and an object as its schema",
    on: EVERYWHERE,
    verdict(_subject, { tools, exchange }) {
      const names = toolNames(tools);
      const wrong = tools.filter((tool, at) => !isListedTool(tool) || names.indexOf(names[at] ?? "") !== at);
      if (wrong.length === 0) return passed;
      return failed(exchange, {
        expected: 'tools with a name that no other has and an inputSchema of type "object"',
        got: cut(JSON.stringify(wrong)),
        fix: "correct these tools: clients refuse a whole list for one of them",
      });
    },
  }),
  opened({
    id: "mcp-card-tools",
    level: "recommended",
    title: "a tool has one description, and takes the same arguments, on the card and in the list",
    verdict({ card }, { tools, exchange }) {
      const listed = new Map(tools.map((tool) => [tool["name"], tool]));
      const differing = (card.capabilities.tools ?? []).filter((tool) => {
        const other = listed.get(tool.name);
        return other !== undefined && !alike(tool, other);
      });
      if (differing.length === 0) return passed;
      return failed(exchange, {
        expected: cut(JSON.stringify(differing)),
        got: cut(JSON.stringify(differing.map(({ name }) => listed.get(name)))),
        fix: "derive the card's tools from those that are served",
      });
    },
  }),
  opened({
    id: "mcp-hidden-mark",
    level: "recommended",
    title: "a tool is marked as hidden by `true` and nothing else",
    on: EVERYWHERE,
    verdict(_subject, { tools, exchange }) {
      const marks = tools.flatMap(({ name, _meta }) =>
        isJsonObject(_meta) && HIDDEN_META_KEY in _meta ? [{ name, mark: _meta[HIDDEN_META_KEY] }] : [],
      );
      const wrong = marks.filter(({ mark }) => mark !== true);
      if (wrong.length === 0) return passed;
      return failed(exchange, {
        expected: `"${HIDDEN_META_KEY}": true, or no such key`,
        got: JSON.stringify(wrong),
        fix: "write true: with anything else the tool isn't hidden",
      });
    },
  }),
  opened({
    id: "mcp-notification",
    level: "required",
    title: "a notification is answered 202, without a body",
    on: EVERYWHERE,
    verdict(_subject, { talk }) {
      if (talk.initialized === null) return skipped("it speaks 2026-07-28, which has no such notification");
      return talk.initialized.status === 202 && talk.initialized.text === ""
        ? passed
        : failed(talk.initialized, { expected: "HTTP 202 without a body", fix: "accept notifications this way (MCP, streamable HTTP)" });
    },
  }),
  opened({
    id: "mcp-session",
    level: "required",
    title: "a session that it doesn't know is 404",
    on: EVERYWHERE,
    async verdict(_subject, { talk }) {
      if (talk.session === undefined) return skipped("it keeps no sessions");
      const message = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
      const headers = { accept: "application/json, text/event-stream", [SESSION_HEADER]: NO_SESSION, "mcp-protocol-version": talk.version };
      const answer = await talk.http.post(talk.path, message, { headers });
      return answer.status === 404
        ? passed
        : failed(answer, {
            expected: "HTTP 404",
            fix: "answer 404: it tells a client that the server was restarted, and that it has to begin anew",
          });
    },
  }),
  opened({
    id: "mcp-unknown-tool",
    level: "recommended",
    title: "a call of a tool that isn't there is an error",
    on: EVERYWHERE,
    async verdict(_subject, { talk }) {
      const { exchange, reply } = await talk.request("tools/call", { name: NO_TOOL, arguments: {} });
      const result = reply?.["result"];
      const isError = (isJsonObject(result) && result["isError"] === true) || isJsonObject(reply?.["error"]);
      return isError
        ? passed
        : failed(exchange, {
            expected: "a result with isError: true, or an error",
            fix: "refuse tools that aren't there: a model then tries another",
          });
    },
  }),
  opened({
    id: "mcp-host",
    level: "required",
    title: "requests under another Host and Origin are served",
    on: ["server"],
    async verdict({ http }, { talk }) {
      const { protocol, hostname } = new URL(http.base);
      if (protocol !== "http:") return skipped("behind TLS a host's name may decide who answers");
      const headers = { host: "conformance-mcp-server:18765", origin: "http://conformance-gateway" };
      const other = await McpTalk.open(http, talk.path, headers);
      const isRefused = !(other instanceof McpTalk);
      if (isRefused && LOOPBACK.test(hostname)) {
        return skipped("refuses other hosts, as it may on this machine alone: ask it at the address that its gateway uses");
      }
      if (isRefused) {
        return failed(other, {
          expected: "the answer that any other host gets",
          fix: "switch off the check of Host and Origin (DNS rebinding protection): gateways arrive by the container's name",
        });
      }
      await other.close();
      return passed;
    },
  }),
  {
    id: "mcp-undeclared",
    group: "mcp",
    level: "recommended",
    title: "where the card declares no endpoint, none is served at /mcp",
    async run(subject) {
      if ((await mcpReading(subject)).is !== "none") return skipped("declares an MCP interface");
      const talk = await openTalk(subject, DEFAULT_MCP_PATH);
      if (!(talk instanceof McpTalk)) return passed;
      return failedWithout({
        sent: `POST ${DEFAULT_MCP_PATH} initialize`,
        expected: "HTTP 404, since the card has no interface with transport mcp",
        got: "MCP answers there",
        fix: 'declare it: {"url":"/mcp","transport":"mcp"} among additionalInterfaces',
      });
    },
  },
  opened({
    id: "mcp-gateway-tools",
    level: "required",
    title: "the gateway lists the tools of all its servers",
    on: ["gateway"],
    async verdict(subject, { tools, exchange }) {
      const listed = new Set(toolNames(tools));
      const lost: string[] = [];
      for (const { key } of servicesOf(subject.card)) {
        const behind = await mcpBehind(subject.http, key);
        const visible = (behind?.tools ?? []).filter((tool) => !isHidden(tool));
        lost.push(...toolNames(visible).flatMap((name) => (listed.has(name) ? [] : [`${name} of ${key}`])));
      }
      if (lost.length === 0) return passed;
      return failed(exchange, {
        expected: `also ${lost.join(", ")}`,
        got: `${listed.size} tools without them`,
        fix: "look at the gateway's /state: it says what is wrong with a server",
      });
    },
  }),
];

type Open = Extract<McpReading, { readonly is: "open" }>;

/** A check of an endpoint that answered. */
function opened({
  verdict,
  ...check
}: Omit<Check, "group" | "run"> & { verdict(subject: Subject, mcp: Open): Verdict | Promise<Verdict> }): Check {
  return {
    ...check,
    group: "mcp",
    async run(subject) {
      const reading = await mcpReading(subject);
      if (reading.is === "none") return skipped("declares no MCP interface");
      if (reading.is !== "open") return skipped("there is nothing to ask: the check mcp says why");
      return await verdict(subject, reading);
    },
  };
}

async function sameTools(subject: Subject, { talk, tools, exchange }: Open): Promise<Verdict> {
  const onCard = new Set((subject.card.capabilities.tools ?? []).map(({ name }) => name));
  const listed = new Set(toolNames(tools));
  const extra = [...listed].filter((name) => !onCard.has(name));
  const absent = [...onCard].filter((name) => !listed.has(name));
  const missing = await stillMissing(subject, talk.path, absent);
  if (missing === null) return skipped(`keeps rules of its own, by which ${JSON.stringify(absent)} may be hidden`);
  if (missing.length === 0 && extra.length === 0) return passed;
  return failed(exchange, {
    expected: `exactly the card's tools: ${JSON.stringify([...onCard])}`,
    got: [
      ...(missing.length === 0 ? [] : [`not listed: ${JSON.stringify(missing)}`]),
      ...(extra.length === 0 ? [] : [`not on the card: ${JSON.stringify(extra)}`]),
    ].join("; "),
    fix: "let card and tools/list name the same tools, hidden ones too",
  });
}

/** Of tools that aren't listed to us: those that aren't to a role either for which they are enabled. Null: that can't be asked. */
async function stillMissing(subject: Subject, path: string, names: readonly string[]): Promise<readonly string[] | null> {
  const rules = names.length === 0 ? null : ruleEndpoints(subject.card);
  if (rules === null) return names;
  if (subject.readOnly || subject.kind !== "server") return null;
  await subject.http.post(rules.enable, { role: ROLE, tools: names });
  const talk = await openTalk(subject, path, { [ROLE_HEADER]: ROLE });
  const listed = talk instanceof McpTalk ? await talk.listTools() : { failed: talk };
  return "failed" in listed ? names : names.filter((name) => !toolNames(listed.tools).includes(name));
}

function isHidden({ _meta }: JsonObject): boolean {
  return isJsonObject(_meta) && _meta[HIDDEN_META_KEY] === true;
}

/** Whether two tools say the same of themselves and take the same arguments. How a schema writes a type may differ. */
function alike(onCard: CardTool, listed: JsonObject): boolean {
  return (
    (onCard.description ?? "") === (listed["description"] ?? "") && argumentsOf(onCard.inputSchema) === argumentsOf(listed["inputSchema"])
  );
}

type CardTool = NonNullable<Subject["card"]["capabilities"]["tools"]>[number];

function argumentsOf(schema: unknown): string {
  const { properties, required } = isJsonObject(schema) ? schema : {};
  return canonicalJson([
    Object.keys(isJsonObject(properties) ? properties : {}).sort(),
    Array.isArray(required) ? required.map(String).sort() : [],
  ]);
}
