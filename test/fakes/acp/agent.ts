// An ACP agent of our own as a program, written against the protocol and not against its library. It does what the user's
// message says, leaves a line in <folder>/effects for everything it does and in <folder>/prompts for everything it is
// told, and keeps its sessions on disk. Usage: agent.ts <folder> [load] [http] [usage]
// [hang-init | exit | auth | version | garbage]; with `auth` the key in FAKE_API_KEY must be "right", "wrong" is refused at
// once, and any other is refused by the first session.

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

type Params = Readonly<Record<string, unknown>>;
type Wire = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: unknown;
};
type Session = {
  readonly told: { readonly role: string; readonly text: string }[];
  readonly done: Record<string, string[]>;
};

const [folder = ".", ...flags] = process.argv.slice(2);
const note = (file: string, line: string): void => appendFileSync(join(folder, file), `${line}\n`);
const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map<number, (result: unknown) => void>();
const cancelled = new Map<string, () => void>();
let next = 1;
/** What its sessions have cost, as real agents count it: from the start of the process. */
let dollars = 0;
/** The key that it has logged in with. */
let login = "";

const fileOf = (id: string): string => join(folder, `session-${id}.json`);
const open = (id: string): Session => JSON.parse(readFileSync(fileOf(id), "utf8")) as Session;
/** Whole or not at all, as real agents keep theirs. */
const keep = (id: string, session: Session): void => {
  writeFileSync(`${fileOf(id)}.new`, JSON.stringify(session));
  renameSync(`${fileOf(id)}.new`, fileOf(id));
};
const update = (sessionId: string, what: object): boolean =>
  send({ method: "session/update", params: { sessionId, update: what } });
const say = (sessionId: string, text: string): boolean =>
  update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

/** What the user wants, out of a message, a note about it, or a history before it. */
function wantedIn(text: string): { readonly message: string; readonly isNote: boolean; readonly finished: string[] } {
  const quoted = /The message:\n((?:> .*\n?)+)/.exec(text)?.[1];
  if (quoted === undefined) {
    const after = text.split("now the user says:]\n\n").at(-1) ?? text;
    return { message: after, isNote: false, finished: [] };
  }
  const finished = /Finished:\n((?:- .*\n?)+)/.exec(text)?.[1] ?? "";
  return {
    message: quoted.replaceAll(/^> /gm, "").trim(),
    isNote: true,
    finished: finished.split("\n").map((line) => line.slice(2)),
  };
}

type Turn = {
  readonly id: string;
  readonly message: string;
  readonly session: Session;
  /** It was told to go on, and not to begin. */
  readonly isNote: boolean;
  readonly stopped: () => boolean;
};

/** A tool of the agent: shown as begun, done, shown as completed. Done once for a message, whatever happens between. */
async function tool(turn: Turn, title: string, act: () => void | Promise<void>): Promise<void> {
  const done = (turn.session.done[turn.message] ??= []);
  if (done.includes(title) || turn.stopped()) return;
  const toolCallId = `${title}-${next++}`;
  update(turn.id, { sessionUpdate: "tool_call", toolCallId, title, kind: "execute", status: "in_progress" });
  await sleep(5);
  note("effects", title);
  done.push(title);
  keep(turn.id, turn.session);
  await act();
  update(turn.id, { sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
  await sleep(5);
}

async function permission(turn: Turn): Promise<void> {
  const done = (turn.session.done[turn.message] ??= []);
  if (done.includes("Remove the build")) return void say(turn.id, "It is removed.");
  if (!turn.isNote) say(turn.id, "I have to ask. ");
  // Long enough that its middle, where the message is, is not shown.
  const padding = turn.message.startsWith("permit long") ? " ".repeat(2_000) + "x".repeat(2_000) : "";
  const command = `rm -rf build${padding}${padding === "" ? "" : turn.message}${padding}`;
  const id = next++;
  const answer = new Promise<unknown>((resolve) => waiting.set(id, resolve));
  send({
    id,
    method: "session/request_permission",
    params: {
      sessionId: turn.id,
      toolCall: { toolCallId: "rm", title: "Remove the build", kind: "execute", rawInput: { command } },
      options: [
        { optionId: "o1", name: "Allow once", kind: "allow_once" },
        { optionId: "o2", name: "Always allow", kind: "allow_always" },
        { optionId: "r1", name: "Reject", kind: "reject_once" },
      ],
    },
  });
  const { outcome } = (await answer) as { readonly outcome: { readonly outcome: string; readonly optionId?: string } };
  note("answers", JSON.stringify(outcome));
  if (turn.stopped()) return;
  if (outcome.optionId === "o1" || outcome.optionId === "o2") {
    await tool(turn, "Remove the build", () => undefined);
    say(turn.id, "It is removed.");
  } else say(turn.id, "Then I leave it.");
}

const once = (name: string): boolean => {
  if (existsSync(join(folder, name))) return false;
  writeFileSync(join(folder, name), "");
  return true;
};

const acts: readonly (readonly [RegExp, (turn: Turn, found: RegExpExecArray) => Promise<string | void>])[] = [
  [
    /^tools (\d+)/,
    async (turn, found) => {
      for (let i = 1; i <= Number(found[1]); i++) await tool(turn, `tool ${i}`, () => undefined);
      say(turn.id, `Did ${(turn.session.done[turn.message] ?? []).join(", ")}.`);
    },
  ],
  [/^permit/, permission],
  // Asks when its prompt is over.
  [/^late/, async (turn) => void setTimeout(() => void permission(turn), 50)],
  [
    /^crash/,
    async (turn) => {
      say(turn.id, "Beginning. ");
      await tool(turn, "first", () => undefined);
      if (once("crashed")) {
        process.stderr.write("out of memory, sorry\n");
        process.exit(9);
      }
      await tool(turn, "second", () => undefined);
      say(turn.id, "Both are done.");
    },
  ],
  [
    /^die/,
    async (turn) => {
      if (once("died")) process.exit(9);
      say(turn.id, "I live again.");
    },
  ],
  [
    /^(?:hang|deaf)/,
    async (turn) => {
      say(turn.id, "Hanging…");
      await new Promise<void>((resolve) => turn.message.startsWith("hang") && cancelled.set(turn.id, resolve));
    },
  ],
  [
    /^slow/,
    async (turn) => {
      for (let i = 0; i < 10 && !turn.stopped(); i++) {
        say(turn.id, `${i} `);
        await sleep(10);
      }
    },
  ],
  [
    /^noise/,
    async (turn) => {
      process.stdout.write("not json\n[]\n{}\n\n");
      update(turn.id, { sessionUpdate: "from_the_future", content: 7 });
      say(turn.id, "through the noise");
    },
  ],
  [
    /^flood/,
    async () => {
      setInterval(() => process.stdout.write("rubbish\n".repeat(100)), 5);
      await new Promise(() => undefined);
    },
  ],
  // Its login ends while it works.
  [
    /^expire/,
    async (turn) => {
      if (turn.message === "expire once" && !once("expired")) return void say(turn.id, "I am logged in again.");
      login = "";
      return Promise.reject(new Error("expired"));
    },
  ],
  [/^fail/, async () => Promise.reject(new Error("the model has no credit"))],
  [/^refuse/, async () => "refusal"],
  [/^silent/, async () => undefined],
  [/./s, async (turn) => void say(turn.id, `You said: ${turn.message.slice(0, 200)}`)],
  [/^$/, async (turn) => void say(turn.id, "You said nothing.")],
];

async function prompt(id: number | string | undefined, params: Params): Promise<void> {
  const sessionId = String(params["sessionId"]);
  const blocks = params["prompt"] as readonly { readonly type: string; readonly text?: string }[];
  const text = blocks
    .map((block) => block.text ?? "")
    .join("\n")
    .trim();
  const session = open(sessionId);
  const { message, isNote, finished } = wantedIn(text);
  if (message.startsWith("vanish") && once("vanished")) process.exit(9);
  if (!isNote) session.done[message] = [];
  session.done[message] = [...new Set([...(session.done[message] ?? []), ...finished])].filter((title) => title !== "");
  session.told.push({ role: "user", text: text.slice(0, 5_000) });
  keep(sessionId, session);
  note(
    "prompts",
    JSON.stringify({ session: sessionId, text: text.slice(0, 5_000), blocks: blocks.map((one) => one.type) }),
  );
  let stopped = false;
  const turn: Turn = { id: sessionId, message, session, isNote, stopped: () => stopped };
  const stop = new Promise<string>((resolve) => {
    cancelled.set(sessionId, () => {
      stopped = true;
      resolve("cancelled");
    });
  });
  const [found, act] = acts.map(([pattern, one]) => [pattern.exec(message), one] as const).find(([one]) => one) ?? [];
  if (!found || act === undefined) return;
  try {
    const work = act(turn, found);
    const reason = await (message.startsWith("deaf") ? work : Promise.race([work, stop]));
    session.told.push({ role: "agent", text: "(what it said)" });
    keep(sessionId, session);
    send({ id, result: { stopReason: stopped ? "cancelled" : (reason ?? "end_turn"), ...used(sessionId) } });
  } catch (error) {
    if (isLocked()) return refuse(id, "Authentication required");
    send({ id, error: { code: -32_603, message: "Internal error", data: { details: String(error) } } });
  }
}

/** Each prompt costs the same: ten cents, 100 tokens in, 50 of them cached, and 10 out. */
function used(sessionId: string): object {
  if (!flags.includes("usage")) return {};
  dollars += 0.1;
  update(sessionId, {
    sessionUpdate: "usage_update",
    used: 110,
    size: 1_000,
    cost: { amount: dollars, currency: "USD" },
  });
  return { usage: { totalTokens: 110, inputTokens: 50, cachedReadTokens: 50, outputTokens: 10 } };
}

function initialize(id: number | string | undefined): void {
  if (flags.includes("hang-init")) return;
  send({
    id,
    result: {
      protocolVersion: flags.includes("version") ? 7 : 1,
      ...(flags.includes("auth") ? { authMethods: [{ id: "fake-api-key", name: "A key of the fake" }] } : {}),
      agentCapabilities: {
        ...(flags.includes("http") ? { mcpCapabilities: { http: true, sse: false } } : {}),
        loadSession: flags.includes("load"),
        promptCapabilities: { image: flags.includes("image") },
      },
    },
  });
}

function load(id: number | string | undefined, sessionId: string): void {
  if (!existsSync(fileOf(sessionId))) return void send({ id, error: { code: -32_002, message: "no such session" } });
  note("loads", sessionId);
  for (const { role, text } of open(sessionId).told) {
    update(sessionId, { sessionUpdate: `${role}_message_chunk`, content: { type: "text", text } });
  }
  send({ id, result: {} });
}

const isLocked = (): boolean => flags.includes("auth") && login !== "right";
const refuse = (id: number | string | undefined, message: string): void =>
  void send({ id, error: { code: -32_000, message } });

/** As real agents do: the key is in the environment, and a wrong one is noticed at once or by the first session. */
function authenticate(id: number | string | undefined, method: string): void {
  note("logins", method);
  login = process.env["FAKE_API_KEY"] ?? "";
  if (login === "wrong") return refuse(id, "Incorrect API key");
  send({ id, result: {} });
}

function hear({ id, method, params = {}, result }: Wire): void {
  switch (method) {
    case "initialize":
      return initialize(id);
    case "authenticate":
      return authenticate(id, String(params["methodId"]));
    case "session/new": {
      if (isLocked()) return refuse(id, "Authentication required");
      note("servers", JSON.stringify(params["mcpServers"]));
      const sessionId = `${process.pid}-${next++}`;
      keep(sessionId, { told: [], done: {} });
      return void send({ id, result: { sessionId } });
    }
    case "session/load":
      if (isLocked()) return refuse(id, "Authentication required");
      note("servers", JSON.stringify(params["mcpServers"]));
      return load(id, String(params["sessionId"]));
    case "session/prompt":
      return void prompt(id, params);
    case "session/cancel":
      note("cancels", String(params["sessionId"]));
      return cancelled.get(String(params["sessionId"]))?.();
    default:
      if (method === undefined) return waiting.get(Number(id))?.(result);
      if (id !== undefined) send({ id, error: { code: -32_601, message: `no method ${method}` } });
  }
}

note("starts", String(process.pid));
if (flags.includes("exit")) {
  process.stderr.write("no configuration found\n");
  process.exit(2);
}
if (flags.includes("garbage")) process.stdout.write("rubbish\n".repeat(1_000));
createInterface({ input: process.stdin }).on("line", (line) => hear(JSON.parse(line) as Wire));
