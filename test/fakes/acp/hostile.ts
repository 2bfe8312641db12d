// An ACP agent under the control of an attacker: every prompt is a script that it runs inside of its own process, and the
// result is its answer. `ask(method, params)` sends a request to the client, `send` any message. Usage: hostile.ts <marker>

import { createInterface } from "node:readline";

type Wire = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly prompt?: readonly { readonly text?: string }[] };
  readonly result?: unknown;
  readonly error?: unknown;
};

const waiting = new Map<string, (answer: unknown) => void>();
let asked = 0;
const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function ask(method: string, params: object): Promise<string> {
  const id = `own-${++asked}`;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, (answer) => done(JSON.stringify(answer))));
}

async function attack(js: string, session: string): Promise<string> {
  try {
    const AsyncFunction = (async () => undefined).constructor as new (
      ...words: string[]
    ) => (...given: unknown[]) => Promise<unknown>;
    const run = new AsyncFunction("load", "ask", "send", "session", js);
    return `done: ${String(await run((name: string) => import(name), ask, send, session))}`;
  } catch (error) {
    return `failed: ${error instanceof Error ? `${error.message} ${"code" in error ? String(error.code) : ""}` : String(error)}`;
  }
}

async function hear({ id, method, params, result, error }: Wire): Promise<void> {
  if (method === undefined) return waiting.get(String(id))?.(error === undefined ? { result } : { error });
  if (method === "initialize") return void send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === "session/new") return void send({ id, result: { sessionId: `s-${process.pid}-${++asked}` } });
  if (method !== "session/prompt") return;
  const sessionId = params?.sessionId ?? "";
  const text = await attack(params?.prompt?.find((block) => block.text !== undefined)?.text ?? "", sessionId);
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  send({ method: "session/update", params: { sessionId, update } });
  send({ id, result: { stopReason: "end_turn" } });
}

createInterface({ input: process.stdin }).on("line", (line) => void hear(JSON.parse(line) as Wire));
process.on("SIGTERM", () => undefined);
setInterval(() => undefined, 60_000);
