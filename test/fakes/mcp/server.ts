// An MCP server of our own as a program, written against the protocol and not against its library, so that it can be
// wrong in every way. Usage: server.ts <mode> <folder>; each call leaves a line in <folder>/calls.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Request = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly cursor?: string;
    readonly requestId?: number;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
};

const [mode = "plain", folder = "."] = process.argv.slice(2);
// A browser that belongs to the server and dies only when it is killed.
if (mode === "browser") spawn("sh", ["-c", "trap '' TERM; sleep 611; :", join(folder, "browser")], { stdio: "ignore" });
const note = (line: string): void => appendFileSync(join(folder, "calls"), `${line}\n`);
const write = (text: string): boolean => process.stdout.write(text);
const send = (message: object): boolean => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
/** The protocol of 2026-07-28 marks every result, and says how long a list holds. */
const mark = mode === "modern" ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : {};
const answer = (id: Request["id"], result: object): boolean => send({ id, result: { ...result, ...mark } });
const text = (words: string, more: object = {}) => ({ content: [{ type: "text", text: words }], ...more });

const input = { type: "object", properties: { text: { type: "string", description: "x".repeat(1_000) } } };
const tools: object[] = [
  { name: "echo", description: "y".repeat(2_000), inputSchema: input, annotations: { readOnlyHint: true } },
  { name: "stamp", inputSchema: input, annotations: { idempotentHint: true } },
  { name: "drop", inputSchema: input, annotations: { destructiveHint: true } },
  { name: "mild", inputSchema: input, annotations: { destructiveHint: false } },
  ...["ring", "die", "die-once", "steady-die", "key-die", "slow", "sleep", "fail", "refuse", "image", "data"].map(
    (name) => ({
      name,
      inputSchema: input,
      annotations: name === "steady-die" ? { readOnlyHint: true } : name === "key-die" ? { idempotentHint: true } : {},
    }),
  ),
  ...["resource", "big", "wrong", "long", "env", "grow", "unlisten", "never"].map((name) => ({
    name,
    inputSchema: input,
  })),
];

let listening: Request["id"];

/** Dies at the first call and answers the second, which is another life. */
function dieOnce(id: Request["id"]): void {
  const mark = join(folder, "died");
  if (existsSync(mark)) return void answer(id, text("alive again"));
  writeFileSync(mark, "");
  process.exit(7);
}

const calls: Readonly<Record<string, (id: Request["id"], args: Readonly<Record<string, unknown>>) => void>> = {
  echo: (id, args) => void answer(id, text(`you said ${String(args["text"])}`)),
  stamp: (id) => void answer(id, text("stamped")),
  drop: (id) => void answer(id, text("dropped")),
  ring: (id) => void answer(id, text("rang")),
  die: () => process.exit(7),
  "die-once": dieOnce,
  "steady-die": dieOnce,
  "key-die": dieOnce,
  slow(id, args) {
    let left = Number(args["text"] ?? 3);
    const timer = setInterval(() => {
      left--;
      send({
        method: "notifications/progress",
        params: { progressToken: id, progress: left, message: `${left} left` },
      });
      if (left > 0) return;
      clearInterval(timer);
      answer(id, text("slow is done"));
    }, 50);
  },
  sleep: () => undefined,
  never: () => undefined,
  fail: (id) => void answer(id, text("the disk is on fire", { isError: true })),
  refuse: (id) => void send({ id, error: { code: -32602, message: "no such argument" } }),
  image: (id) =>
    void answer(id, {
      content: [{ type: "image", data: Buffer.from("png!").toString("base64"), mimeType: "image/png" }],
    }),
  data: (id) => void answer(id, { content: [], structuredContent: { degrees: 21 } }),
  resource: (id) =>
    void answer(id, {
      content: [
        { type: "resource", resource: { uri: "file:///notes/a.txt", text: "inside" } },
        { type: "resource_link", uri: "https://example.com/b", name: "b" },
      ],
    }),
  big: (id) => void answer(id, text("z".repeat(5_000_000))),
  wrong: (id) => void answer(id, { content: "not a list" }),
  long: () => void write(`{"jsonrpc":"2.0","id":1,"result":"${"x".repeat(40_000_000)}`),
  env: (id) => void answer(id, text(JSON.stringify({ env: process.env, cwd: process.cwd() }))),
  unlisten(id) {
    // The server ends the subscription and lives on.
    send({ method: "notifications/cancelled", params: { requestId: listening } });
    answer(id, text("unlistened"));
  },
  grow(id) {
    tools.push({ name: "grown", inputSchema: input });
    for (let i = 0; i < 50; i++) send({ method: "notifications/tools/list_changed" });
    answer(id, text("grown"));
  },
};

function listPage(cursor: string | undefined): object {
  if (mode === "loop") return { tools: [{ name: `t${cursor ?? ""}`, inputSchema: input }], nextCursor: "again" };
  if (mode !== "many") return { tools };
  const from = Number(cursor ?? 0);
  const page = Array.from({ length: 100 }, (_, i) => ({ name: `tool${from + i}`, inputSchema: input }));
  return from + 100 < 1_000 ? { tools: page, nextCursor: String(from + 100) } : { tools: page };
}

function flood(): void {
  const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } })}\n`;
  const pour = (): void => void (write(line.repeat(1_000)) ? setImmediate(pour) : process.stdout.once("drain", pour));
  pour();
}

function hear({ id, method, params }: Request): void {
  switch (method) {
    case "server/discover":
      note("discover");
      if (mode === "hang" || mode === "silent") return;
      // Some older servers end on any request before `initialize`.
      if (mode === "touchy") process.exit(4);
      if (mode !== "modern") return noMethod(id, method);
      answer(id, { supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: true } } });
      return;
    case "subscriptions/listen":
      note("listen");
      listening = id;
      send({
        method: "notifications/subscriptions/acknowledged",
        params: { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications: { toolsListChanged: true } },
      });
      return;
    case "initialize":
      note("initialize");
      if (mode === "hang") return;
      if (mode === "modern") return noMethod(id, method);
      answer(id, {
        protocolVersion: "2025-06-18",
        capabilities: mode === "toolless" ? {} : { tools: { listChanged: true } },
        serverInfo: { name: "fake", version: "1" },
      });
      return;
    case "notifications/initialized":
      if (mode === "flood") flood();
      return;
    case "notifications/cancelled":
      return note(`cancelled ${params?.requestId}`);
    case "tools/list":
      note("list");
      return void answer(id, listPage(params?.cursor));
    case "tools/call": {
      const name = params?.name ?? "";
      note(`${name} ${String(params?._meta?.["everturn/key"])}`);
      return calls[name]?.(id, params?.arguments ?? {});
    }
    default:
      if (id !== undefined) noMethod(id, method ?? "");
  }
}

function noMethod(id: Request["id"], method: string): void {
  send({ id, error: { code: -32601, message: `no method ${method}` } });
}

note("started");
if (mode === "exit") {
  process.stderr.write("no licence found\n");
  process.exit(3);
}
if (mode === "exit-first" && readFileSync(join(folder, "calls"), "utf8").split("started").length < 4) process.exit(3);
if (mode === "noise") write("Welcome!\n\n{ not json\n");
if (mode === "garbage") setInterval(() => write("garbage\n".repeat(50)), 5);
if (mode === "stderr") for (let i = 0; i < 500; i++) process.stderr.write("e".repeat(100_000));
if (mode === "stubborn") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
}
createInterface({ input: process.stdin }).on("line", (line) => hear(JSON.parse(line) as Request));
