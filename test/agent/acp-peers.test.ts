// The ACP backend against an agent that others wrote: opencode, with its model pointed at our fake of a provider. It is
// found where scripts/peers.ts put it: the folder in EVERTURN_PEERS.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { peerIn } from "../../scripts/peers.ts";
import { openLink } from "../../src/agents/acp/link.ts";
import { type AcpOptions, acpPace } from "../../src/agents/acp/options.ts";
import { toolsIn } from "../../src/agents/acp/told/record.ts";
import type { Entry } from "../../src/core/journal.ts";
import { spentIn } from "../../src/core/usage.ts";
import { openProcesses } from "../../src/host/processes.ts";
import { openSandbox } from "../../src/sandbox/index.ts";
import { type Asked, type FakeModels, type Plan, fakeModels } from "../fakes/models/index.ts";
import { type AcpStage, acpStage, playTurn, resumed, stepOf } from "./acp-stage.ts";
import { until } from "./mcp-stage.ts";
import { type SpawnProgram, peerHost } from "./peer-host.ts";

const opencode = peerIn(process.env["EVERTURN_PEERS"], "opencode");
const skip = opencode === null ? "no real ACP agent: set EVERTURN_PEERS" : false;
const limit = { timeout: 300_000, skip };

/** Does what the last message says: `run: <command>` once, then tells what came out. */
function script({ seen }: Asked): Plan {
  if (/title/i.test(seen.system) && seen.tools.length === 0) return { text: "A title" };
  const at = seen.messages.findLastIndex((one) => one.role === "user" && one.text.trim() !== "");
  const said = seen.messages[at]?.text ?? "";
  const results = seen.messages.slice(at + 1).flatMap((one) => one.results);
  const commands = [...said.matchAll(/run: ([^\n"]+)/g)].map((found) => (found[1] ?? "").trim());
  const isNote = said.includes("[System note:");
  if (isNote && /Finished:/.test(said)) return { text: "I went on: it was finished before." };
  const command = commands[results.length];
  if (command !== undefined) {
    return { text: "I run it. ", calls: [{ name: "bash", input: { command, description: "As the user wants" } }] };
  }
  if (results.length > 0) return { text: `It said: ${results.map((one) => one.text.trim()).join(" and ")}` };
  if (said.includes("slowly")) return { text: "word ".repeat(500), grain: 5, everyMs: 50 };
  const earlier = seen.messages.slice(0, at).filter((one) => one.role === "user").length;
  return { text: `You said it after ${earlier} others.` };
}

type Peer = AcpStage & {
  readonly models: FakeModels;
  /** What a life of its own needs to start the agent as this one does. */
  readonly settings: Pick<AcpOptions, "program"> & { readonly workspace: string };
};

async function stageOf(t: TestContext, permission: object | string): Promise<Peer> {
  const models = await fakeModels(script);
  t.after(() => models.close());
  const stage = acpStage(t, [], "work");
  const home = join(stage.folder, "home");
  mkdirSync(home);
  mkdirSync(join(stage.folder, "work"));
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: models.baseUrl("openai"), apiKey: "planted" },
    models: { m: { name: "m", tool_call: true, limit: { context: 100_000, output: 8_000 } } },
  };
  const config = {
    provider: { fake: provider },
    model: "fake/m",
    small_model: "fake/m",
    share: "disabled",
    permission,
  };
  writeFileSync(join(home, "opencode.json"), JSON.stringify(config));
  const env = {
    HOME: home,
    OPENCODE_CONFIG: join(home, "opencode.json"),
    ...Object.fromEntries(["CONFIG", "DATA", "CACHE", "STATE"].map((name) => [`XDG_${name}_HOME`, join(home, name)])),
    ...Object.fromEntries(
      ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE", "PRUNE", "EXTERNAL_SKILLS"].map(
        (name) => [`OPENCODE_DISABLE_${name}`, "1"],
      ),
    ),
  };
  const workspace = join(stage.folder, "work");
  const program = { command: [opencode ?? "", "acp"], env, unsafe: true };
  return { ...stage, models, settings: { program, workspace }, open: (more) => stage.open({ program, ...more }) };
}

test("a prompt, streamed text, a tool that is shown, and a second message in the same session", limit, async (t) => {
  const stage = await stageOf(t, "allow");
  const { agent } = stage.open();
  const shown: string[] = [];
  const draft = (words: string) => void shown.push(words);
  const { text, journal } = await playTurn(agent, { text: "run: echo from-the-shell >> ran; cat ran", draft });
  assert.match(text, /I run it\.[^]*It said: from-the-shell/);
  assert.equal(toolsIn(journal).filter((tool) => tool.status === "completed").length, 1, JSON.stringify(journal));
  assert.ok(
    shown.some((words) => words.includes("▸")),
    "the tool is shown",
  );
  assert.equal(readFileSync(join(stage.folder, "work", "ran"), "utf8"), "from-the-shell\n");
  const { input, output } = spentIn(journal);
  assert.ok(input > 0 && output > 0, "its usage is counted");
  assert.match((await playTurn(agent, { text: "hello", turn: "t2" })).text, /after 1 others/);
});

test("a permission is asked, and what the user says is done", limit, async (t) => {
  const stage = await stageOf(t, { bash: "ask" });
  const { agent } = stage.open();
  const file = join(stage.folder, "work", "allowed");
  const text = "run: echo yes >> allowed; cat allowed";
  const denied = await playTurn(agent, { text, turn: "t1" }, () => "deny");
  assert.ok(!existsSync(file), denied.text);
  const asked = denied.journal.find((entry) => entry.type === "asked");
  assert.match(asked?.type === "asked" ? asked.text : "", /echo yes >> allowed/);
  const allowed = await playTurn(agent, { text, turn: "t2" }, () => "approve");
  assert.match(allowed.text, /It said: yes/);
  assert.equal(readFileSync(file, "utf8"), "yes\n");
});

test("an approval that comes after a kill is used once", limit, async (t) => {
  const stage = await stageOf(t, { bash: "ask" });
  const before = stage.open();
  const text = "run: echo yes >> allowed; cat allowed";
  const { journal } = await playTurn(before.agent, { text }, null);
  await before.kill();
  const asked = journal.at(-1);
  assert.ok(asked?.type === "asked", JSON.stringify(journal));
  const choice = "approve";
  const past: Entry[] = [...journal, { type: "answered", question: asked.question, choice }];
  const played = await playTurn(stage.open().agent, { text, past }, () => choice);
  assert.match(played.text, /It said: yes/);
  assert.equal(readFileSync(join(stage.folder, "work", "allowed"), "utf8"), "yes\n");
  assert.equal(played.journal.filter((entry) => entry.type === "asked").length, 1, "the user is not asked again");
});

test("a cancel is obeyed at once, and the session goes on", limit, async (t) => {
  const stage = await stageOf(t, "allow");
  const { agent } = stage.open();
  const stop = new AbortController();
  let asked = 0;
  const draft = (words: string) => {
    if (!words.includes("word word") || stop.signal.aborted) return;
    asked = performance.now();
    stop.abort(new Error("stop"));
  };
  await assert.rejects(playTurn(agent, { text: "speak slowly", signal: stop.signal, draft }), /stop/);
  t.diagnostic(`the step ended ${Math.round(performance.now() - asked)} ms after it was told to`);
  assert.match((await playTurn(agent, { text: "hello", turn: "t2" })).text, /after 1 others/);
});

test(
  "killed in the middle of its tools, it loads its session and repeats nothing that is on record",
  limit,
  async (t) => {
    const stage = await stageOf(t, "allow");
    const turn = { text: "run: echo one >> ran\nrun: sleep 300" };
    const journal: Entry[] = [];
    const before = stage.open();
    while (toolsIn(journal).every((tool) => tool.status === "begun")) await stepOf(before.agent, turn, journal);
    await before.kill();
    const after = await playTurn(stage.open().agent, { ...turn, past: [...journal, resumed] });
    assert.match(after.text, /it was finished before/);
    assert.equal(readFileSync(join(stage.folder, "work", "ran"), "utf8"), "one\n");
    const last = stage.models.requests.at(-1)?.seen.messages ?? [];
    assert.ok(
      last.some((one) => one.text.includes("run: sleep 300") && !one.text.includes("[System note:")),
      "the session has what was said in it before",
    );
  },
);

test("the driver is killed: the agent goes with it, and the next life goes on in its session", limit, async (t) => {
  const { folder, settings, models } = await stageOf(t, "allow");
  const journal = join(folder, "journal");
  const text = "run: echo one >> ran\nrun: sleep 300";
  const words = [join(import.meta.dirname, "..", "fakes", "acp", "driver.ts"), journal, text, JSON.stringify(settings)];
  const live = () => spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
  const first = live();
  await until(() => existsSync(journal) && readFileSync(journal, "utf8").includes('"completed"'));
  first.kill("SIGKILL");
  await until(() => agentsIn(folder).length === 0);
  const second = live();
  let said = "";
  second.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await new Promise((done) => second.once("close", done));
  assert.match(said, /it was finished before/);
  assert.equal(readFileSync(join(folder, "work", "ran"), "utf8"), "one\n");
  assert.ok(
    models.requests.at(-1)?.seen.messages.some((one) => one.results.length > 0),
    "its session was loaded",
  );
});

/** Living processes that work for that folder; whatever the agent started has it as its place too. */
function agentsIn(folder: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch (error) {
      if (error instanceof Error) return false;
      throw error;
    }
  });
}

test("in the sandbox it starts in its own HOME and makes a session in the workspace", limit, async (t) => {
  const folder = mkdtempSync(join(homedir(), "everturn-acp-peers-"));
  const processes = openProcesses();
  const home = join(folder, "gateway");
  const workspace = join(home, "workspace");
  mkdirSync(workspace, { recursive: true });
  const sandbox = openSandbox({ choice: "bwrap", home, userHome: null, environment: { PATH: "/usr/bin:/bin" } });
  const spawnIn: SpawnProgram = (program, words, options) => processes.spawn({ program, words, options });
  const env = {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  };
  const options = {
    program: { command: [opencode ?? "", "acp"], env, hosts: [] },
    host: peerHost(workspace, spawnIn, sandbox, home),
    log: () => undefined,
  };
  t.after(async () => {
    await processes.killAll("all");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const link = await openLink(
    options,
    acpPace,
    { person: "owner", folder: workspace, files: workspace },
    new AbortController().signal,
  );
  assert.equal(link.can.links, false, "it cannot open files of conversations");
  assert.notEqual(await link.newSession(), "");
  await link.close("the test is over");
});
