// One suite over real ACP agents of others: a gateway with its default sandbox, the agent inside it, and a fake of its model
// provider that the agent reaches by the sandbox's proxy. Agents are found where scripts/peers.ts installs them.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { peerIn } from "../../scripts/peers.ts";
import { noteBegin } from "../../src/agents/acp/told/words.ts";
import { type Asked, type Call, type FakeModels, type Plan, fakeModels } from "../fakes/models/index.ts";
import { type Client, type Message, client } from "../process/client.ts";
import { atEnd, readProc, root, runGateway, signal, until } from "../process/stage.ts";
import { processesNaming } from "./processes.ts";
import { apart, sandboxMissing } from "./sandbox-stage.ts";
import { answerTo, questionAfter } from "./stage.ts";

export type AcpPeer = {
  /** As scripts/peers.ts names it. */
  readonly name: string;
  /** Words behind the program. */
  readonly words?: readonly string[];
  /** The variable with its key, and those without which it also asks for a login. */
  readonly login: readonly [key: string, ...others: string[]];
  /** `url` is the fake provider, `folder` is the agent's to read and write. */
  env(url: string, folder: string): Readonly<Record<string, string>>;
  /** It may not find its own session again, and then it is told what was said. */
  readonly mayForget?: true;
  /** What its model answers to requests without tools, such as for a title. */
  readonly aside?: string;
  /** The call of the agent's shell tool that runs a command and asks for it. */
  call(command: string): Call;
};

/** Leads to this machine by the internet of own-internet.ts. */
const host = "models.example.org";

type Stage = {
  readonly models: FakeModels;
  readonly workspace: string;
  start(port?: number): Promise<Life>;
  /** Processes of the agent itself. */
  agents(): readonly number[];
};

type Life = Awaited<ReturnType<typeof runGateway>> & { readonly client: Client };

async function openStage(
  t: TestContext,
  peer: AcpPeer,
  entry: string,
  without: readonly string[] = [],
): Promise<Stage> {
  // Not below /tmp, which a sandbox has anew.
  const folder = mkdtempSync(join(apart, `everturn-${peer.name}-`));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  const models = await fakeModels((asked) => modelFor(peer, asked));
  atEnd(t, () => models.close());
  const home = join(folder, "home");
  const own = join(folder, "agent");
  for (const path of [home, own]) mkdirSync(path, { mode: 0o700 });
  const { port } = new URL(models.url);
  // The packages beside the program belong to it.
  const packages = entry.slice(0, entry.lastIndexOf("/node_modules/"));
  const env = Object.entries(peer.env(`http://${host}:${port}`, own)).filter(([name]) => !without.includes(name));
  const acp = {
    command: [process.execPath, entry, ...(peer.words ?? [])],
    env: { ...Object.fromEntries(env), PEER_OF_TEST: folder },
    hosts: [host],
    paths: [packages, `${own}:rw`],
  };
  const mcp = {
    planted: { command: [process.execPath, join(root, "test", "fakes", "mcp", "server.ts"), "plain", own] },
  };
  const settings = ["agent:", "  backend: acp", `  acp: ${JSON.stringify(acp)}`, `  mcp: ${JSON.stringify(mcp)}`, ""];
  writeFileSync(join(home, "config.yaml"), settings.join("\n"));
  const internet = { NODE_OPTIONS: `--import=${join(import.meta.dirname, "own-internet.ts")}` };
  return {
    models,
    workspace: join(home, "workspace"),
    async start(at = 0) {
      const gateway = await runGateway(t, home, { port: at, env: internet });
      return { ...gateway, client: client(gateway) };
    },
    agents: () => processesWith(entry, folder),
  };
}

/** Processes that run this program with these words in their environment. */
function processesWith(program: string, words: string): readonly number[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter(
      (pid) => readProc(`${pid}/cmdline`).split("\0")[1] === program && readProc(`${pid}/environ`).includes(words),
    )
    .map(Number);
}

/** Does what the last message says: `run: <command>` each once, slow words, or counts the pings of the conversation. */
function modelFor(peer: AcpPeer, { seen }: Asked): Plan {
  if (!seen.tools.includes(peer.call("").name)) return { text: peer.aside ?? "A title" };
  const isWords = (one: (typeof seen.messages)[number]) =>
    one.role === "user" && one.results.length === 0 && /ping|run: |slowly|System note/.test(one.text);
  const at = seen.messages.findLastIndex(isWords);
  const said = (seen.messages[at]?.text ?? "").split("now the user says:]").at(-1) ?? "";
  if (said.includes(noteBegin))
    return { text: `I went on: ${/Finished:/.test(said) ? "it was finished" : "all is well"}.` };
  const results = seen.messages.slice(at + 1).flatMap((one) => one.results);
  const commands = [...said.matchAll(/run: ([^\n"]+)/g)].map((found) => (found[1] ?? "").trim());
  const command = commands[results.length];
  if (command !== undefined) return { text: "I run it. ", calls: [peer.call(command)] };
  if (results.length > 0) return { text: `It said: ${results.map((one) => one.text.trim()).join(" and ")}` };
  // After a /stop some agents put both messages into one.
  if (said.lastIndexOf("slowly") > said.lastIndexOf("ping"))
    return { text: "word ".repeat(2_000), grain: 5, everyMs: 50 };
  const pings = seen.messages.filter(isWords).flatMap((one) => one.text.match(/ping/g) ?? []).length;
  return { text: `Pings so far: ${pings}.` };
}

async function decide(own: Client, id: string, nth: number, choice: "approve" | "deny"): Promise<Message> {
  const asked = await questionAfter(own, "c", id, nth);
  await own.send("c", `${id}-answer-${nth}`, { answer: { question: asked.question?.id ?? "", choice } });
  return asked;
}

/** Whether the model was told these words as a message; for an agent that may forget, also in a note about the past. */
function remembers({ models }: Stage, words: string, mayForget = false): boolean {
  // Requests for titles and the like have no tools.
  const { messages = [] } = models.requests.findLast(({ seen }) => seen.tools.length > 0)?.seen ?? {};
  const isOwn = (text: string) => mayForget || !text.includes(noteBegin);
  return messages.some((one) => one.role === "user" && one.text.includes(words) && isOwn(one.text));
}

export async function acpPeerSuite(peer: AcpPeer): Promise<void> {
  const entry = peerIn(process.env["EVERTURN_PEERS"], peer.name);
  const missing = await sandboxMissing();
  const skip = entry === null ? `${peer.name} is not installed: set EVERTURN_PEERS` : missing;
  const limit = { timeout: 300_000, skip };

  test(`${peer.name}: answers, asks, obeys a denial, an approval and /stop`, limit, async (t) => {
    const stage = await openStage(t, peer, entry ?? "");
    const { client: own } = await stage.start();
    const file = join(stage.workspace, "ran");
    for (const [id, count] of [
      ["m1", 1],
      ["m2", 2],
    ] as const) {
      await own.send("c", id, "ping");
      assert.match(await answerTo(own, "c", id), new RegExp(`Pings so far: ${count}\\.`));
    }

    await own.send("c", "m3", "run: echo denied >> ran");
    const asked = await decide(own, "m3", 1, "deny");
    assert.match(asked.text, /echo denied >> ran/);
    await answerTo(own, "c", "m3");
    assert.ok(!existsSync(file), "what was denied is not done");

    await own.send("c", "m4", "run: echo yes >> ran; cat ran");
    await decide(own, "m4", 1, "approve");
    assert.match(await answerTo(own, "c", "m4"), /It said: [^]*yes/);
    assert.equal(readFileSync(file, "utf8"), "yes\n");

    const before = stage.models.left();
    await own.send("c", "m5", "speak slowly");
    await until(() => remembers(stage, "slowly"), Boolean, "the model speaks");
    await own.send("c", "m6", "/stop");
    await until(
      () => stage.models.left(),
      (left) => left > before,
      "the agent hangs up on its model",
    );
    await own.send("c", "m7", "ping");
    await until(
      () => own.transcript("c"),
      (all) => all.some((one) => /Pings so far: 3\./.test(one.text)),
      "it answers again",
    );
    assert.equal(stage.agents().length, 1, "it is the same process");
    const isOffered = stage.models.requests.some(({ body }) => /mcp_+planted/.test(JSON.stringify(body)));
    assert.ok(isOffered, "the model knows the tools of the configured MCP server");
    const { lines } = await own.get<{ lines: readonly { model: string; input: number; output: number }[] }>(
      "/api/usage",
    );
    assert.ok(
      lines.some(({ model, input, output }) => model.startsWith("acp/") && input > 0 && output > 0),
      JSON.stringify(lines),
    );
  });

  test(`${peer.name}: goes on after kills of the gateway and of itself, and after a restart`, limit, async (t) => {
    const stage = await openStage(t, peer, entry ?? "");
    const file = join(stage.workspace, "ran");
    const first = await stage.start();
    // Words that no other process has.
    const mark = `loop-${new URL(stage.models.url).port}`;
    await first.client.send("c", "m0", "ping");
    await answerTo(first.client, "c", "m0");
    await first.client.send("c", "m1", `run: echo one >> ran\nrun: tail -f /dev/null ${mark}`);
    await decide(first.client, "m1", 1, "approve");
    await decide(first.client, "m1", 2, "approve");
    await until(() => processesNaming(`/dev/null ${mark}`).length, Boolean, "the command runs");
    await first.end("SIGKILL");
    await until(
      () => [...stage.agents(), ...processesNaming(mark)],
      (left) => left.length === 0,
      "the agent ends with its gateway, and its command too",
    );

    const second = await stage.start(first.port);
    assert.match(await answerTo(second.client, "c", "m1"), /I went on: it was finished\./);
    assert.equal(readFileSync(file, "utf8"), "one\n");
    assert.ok(remembers(stage, "run: echo one", peer.mayForget), "it has loaded its session");

    await second.client.send("c", "m2", "speak slowly");
    await until(() => remembers(stage, "slowly"), Boolean, "the model speaks");
    for (const pid of stage.agents()) signal(pid, "SIGKILL");
    assert.match(await answerTo(second.client, "c", "m2"), /I went on/);

    await second.end("SIGTERM");
    const third = await stage.start(first.port);
    await third.client.send("c", "m3", "ping");
    assert.match(await answerTo(third.client, "c", "m3"), /Pings so far: 2\./);
    assert.ok(remembers(stage, "run: echo one", peer.mayForget), "it has loaded its session again");
  });

  test(`${peer.name}: without its key, the chat says which variable to set`, limit, async (t) => {
    const [key] = peer.login;
    const stage = await openStage(t, peer, entry ?? "", peer.login);
    const { client: own } = await stage.start();
    await own.send("c", "m1", "ping");
    const said = await answerTo(own, "c", "m1");
    assert.match(said, new RegExp(`the agent ${peer.name} needs a login.*Set [^.]*${key}[^.]* in agent\\.acp\\.env`));
  });
}
