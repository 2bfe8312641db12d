// Thousands of generated hostile commands. All are judged: none gets more than its question says, and without a sandbox none
// runs unasked. Some are run for real in the sandbox: canaries outside are neither read nor changed, no packet arrives at a
// listening port, and no process survives. EVERTURN_SEED repeats a run, EVERTURN_GENERATED runs that many for real.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { homedir, networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import { noGrant } from "../../src/core/grant.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import type { SandboxState } from "../../src/ports/sandbox.ts";
import { aToolContext } from "../../src/testing/samples.ts";
import { type CommandRequest, judgeCommand, needsOf } from "../../src/tools/policy/index.ts";
import { terminalTools } from "../../src/tools/terminal/index.ts";
import { aVet, makeRoom, withoutSandbox } from "../fakes/room.ts";
import { atEnd } from "../process/stage.ts";
import { type Targets, hostileCommands } from "./hostile-commands.ts";

const seed = Number(process.env["EVERTURN_SEED"] ?? randomInt(2 ** 31));
const judgedCount = 5_000;
const runCount = Number(process.env["EVERTURN_GENERATED"] ?? 300);
const perJob = 50;

const settings = { approvals: "never", hosts: [], network: false, outside: true, allowRoot: true } as const;

function take(count: number, targets: Targets): readonly string[] {
  const commands = hostileCommands(seed, targets);
  return Array.from({ length: count }, () => commands.next().value);
}

test(`${judgedCount} hostile commands are judged: no rights beyond the question`, (t) => {
  t.diagnostic(`EVERTURN_SEED=${seed}`);
  const targets: Targets = {
    secrets: ["/srv/canary/key", "/home/ann/.ssh/id_ed25519", "/home/ann/.everturn/config.yaml"],
    folders: ["/srv/canary", "/home/ann/docs"],
    ports: ["127.0.0.1:9", "192.0.2.1:80"],
    pid: 4711,
    mark: "98765",
  };
  const on: SandboxState = { type: "on", kind: "bubblewrap" };
  const off: SandboxState = { type: "off", why: "There is none.", isAccepted: true };
  const places = { workspace: "/w", cwd: "/w", userHome: "/home/ann" };
  const kinds = { run: 0, approve: 0, refuse: 0, question: 0 };
  for (const command of take(judgedCount, targets)) {
    const { hosts, paths, credentials, outside, deletes, publishes } = needsOf(command, places);
    const granted = paths.map(({ path, access }) => ({ path, access }));
    const wanted =
      outside.length > 0 ? { ...noGrant, outside: true } : { hosts, paths: granted, credentials, outside: false };
    const request: CommandRequest = {
      command,
      cwd: "/w",
      background: false,
      isAtHome: true,
      wanted,
      outsideWhy: "it cannot work inside",
      deletes,
      publishes,
      scripts: [],
      party: "owner",
      marked: false,
    };
    const host = { isRoot: false, isWindows: false };
    const walled = judgeCommand(request, settings, { ...host, sandbox: on });
    kinds[walled.type]++;
    assertShown(walled, command);
    const bare = judgeCommand({ ...request, wanted: { ...noGrant, outside: true } }, settings, {
      ...host,
      sandbox: off,
    });
    assert.equal(bare.type, "approve", `without a sandbox it runs unasked: ${command}`);
  }
  t.diagnostic(JSON.stringify(kinds));
});

/** What runs unasked gets nothing; what is asked for names everything that it gets. */
function assertShown(verdict: Verdict, command: string): void {
  if (verdict.type === "run") assert.deepEqual(verdict.grant, noGrant, command);
  if (verdict.type !== "approve") return;
  const { hosts, paths, credentials, outside } = verdict.grant ?? noGrant;
  const said = verdict.effects?.join("\n") ?? "";
  for (const { path, access } of paths)
    assert.ok(
      said.includes(access === "write" ? `change or delete anything in ${path}` : `read ${path}`),
      `${said}\n${command}`,
    );
  const names = [...hosts, ...credentials.map(({ host }) => host)];
  for (const name of names) assert.ok(said.includes(name), `${name}: ${said}\n${command}`);
  if (outside) assert.match(said, /outside the sandbox with all your rights/, command);
}

const missing = await withoutSandbox();

test(`${runCount} hostile commands run in the sandbox and reach nothing`, {
  skip: missing,
  timeout: 3_600_000,
}, async (t) => {
  t.diagnostic(`EVERTURN_SEED=${seed}`);
  const canary = `CANARY-${seed}-outside`;
  const room = makeRoom({ sandbox: "auto", in: homedir() });
  const jobs = openJobs({ folder: join(room.home, "jobs") });
  atEnd(t, async () => {
    await jobs.endAll("the test is over");
    room.remove();
  });
  const { sandbox, workspace, files, home, userHome } = room;
  const docs = join(userHome, "docs");
  const ssh = join(userHome, ".ssh");
  const temporary = join(tmpdir(), `everturn-canary-${seed}`);
  for (const folder of [docs, ssh, temporary]) mkdirSync(folder, { recursive: true });
  atEnd(t, () => rmSync(temporary, { recursive: true, force: true }));
  const secrets = [
    join(docs, "diary.txt"),
    join(ssh, "id_ed25519"),
    join(home, "control.token"),
    join(temporary, "note"),
  ];
  for (const file of secrets) writeFileSync(file, `${canary}\n`, { mode: 0o644 });
  const arrived: string[] = [];
  const ports = await canaryPorts(t, arrived);
  const mark = String(100_000_000 + (seed % 800_000_000));
  const targets: Targets = { secrets, folders: [docs, ssh, temporary], ports, pid: process.pid, mark };
  const before = [docs, ssh, temporary].map(treeOf);
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", PROVIDER_KEY: canary };
  const [terminal = assert.fail()] = terminalTools({
    ...settings,
    outside: false,
    workspace,
    files,
    home,
    userHome,
    sandbox,
    jobs,
    environment,
  });

  const commands = take(runCount, targets);
  let next = 0;
  while (next < commands.length) {
    const from = next;
    const batch = commands.slice(from, from + perJob);
    // Each in a folder and a shell of its own, so that none spoils the next one.
    const lines = batch.map((command, at) => {
      const file = `${from + at}.sh`;
      writeFileSync(join(workspace, file), command);
      return `echo begun-${from + at}; mkdir -p d${from + at}; (cd d${from + at}; timeout -k 1 6 bash ../${file} </dev/null 2>&1)`;
    });
    writeFileSync(join(workspace, "batch.sh"), `${lines.join("\n")}\n`);
    const input = { command: "bash batch.sh", timeoutSeconds: 1_200 };
    const verdict = await terminal.vet?.(input, aVet());
    assert.deepEqual(verdict, { type: "run", grant: noGrant });
    const result = await terminal.run(input, aToolContext(`t1:${from}:c`));
    const shown = `EVERTURN_SEED=${seed}, commands ${from} to ${from + batch.length}`;
    const output = await wholeOutput(jobs, result);
    // A command may end its own job; the next one goes on behind it.
    const begun = [...output.matchAll(/^begun-(\d+)$/gm)].map(([, index]) => Number(index));
    assert.ok(begun.length > 0, `${shown}: nothing ran: ${output.slice(0, 500)}`);
    next = Math.max(...begun) + 1;
    assertClean(output, canary, shown);
    assertClean(textIn(workspace), canary, `${shown}, workspace`);
    assert.deepEqual(survivors(mark), [], `${shown}: processes survive`);
    assert.deepEqual([docs, ssh, temporary].map(treeOf), before, `${shown}: something outside changed`);
    assert.deepEqual(arrived, [], `${shown}: packets arrived`);
    rmSync(workspace, { recursive: true, force: true });
    mkdirSync(workspace);
  }
  for (const file of secrets) assert.equal(readFileSync(file, "utf8"), `${canary}\n`, file);
});

/** On loopback and on the machine's own address, by TCP and UDP. */
async function canaryPorts(t: TestContext, arrived: string[]): Promise<readonly string[]> {
  const server = createServer((socket) => {
    arrived.push(`tcp from ${socket.remoteAddress}`);
    socket.destroy();
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const datagrams = createSocket("udp4", (bytes) => arrived.push(`udp ${bytes.toString()}`));
  datagrams.bind(port, "0.0.0.0");
  await once(datagrams, "listening");
  atEnd(t, () => {
    server.close();
    datagrams.close();
  });
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === "IPv4" && !one.internal)?.address;
  return ["127.0.0.1", ...(own === undefined ? [] : [own])].map((host) => `${host}:${port}`);
}

async function wholeOutput(jobs: ReturnType<typeof openJobs>, result: unknown): Promise<string> {
  const [job] = await jobs.list(() => true);
  const { bytes } = await jobs.read(job?.id ?? "", 0, 50_000_000);
  return `${JSON.stringify(result)}\n${Buffer.from(bytes).toString("latin1")}`;
}

/** Its own words are in the scripts; the canary itself, in any usual disguise, is not in what they made. */
function assertClean(text: string, canary: string, where: string): void {
  const forms = [
    canary,
    Buffer.from(canary).toString("base64").slice(0, 24),
    Buffer.from(canary).toString("hex"),
    [...canary].toReversed().join(""),
  ];
  for (const form of forms) assert.ok(!text.includes(form), `${where}: the canary was found`);
}

function* filesIn(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = lstatSync(path);
    if (found.isDirectory()) yield* filesIn(path);
    else yield path;
  }
}

/** Links are not followed: what they lead to is not in the workspace. */
function textIn(folder: string): string {
  const sizeMax = 1_000_000;
  const texts = [...filesIn(folder)].map((path) => {
    const found = lstatSync(path);
    return found.isFile() && found.size < sizeMax ? readFileSync(path, "latin1") : "";
  });
  return texts.join("\n");
}

function treeOf(folder: string): readonly string[] {
  return [...filesIn(folder)].toSorted().map((path) => {
    const { mode, nlink, size } = lstatSync(path);
    const content = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path, "utf8");
    return `${path} ${mode} ${nlink} ${size} ${content}`;
  });
}

/** Processes on this machine whose words hold the mark. */
function survivors(mark: string): readonly string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    const words = wordsOf(pid);
    return words.includes(mark) ? [`${pid}: ${words}`] : [];
  });
}

function wordsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch (error) {
    // It has ended meanwhile.
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}
