// File, .env and environment together: what is taken over, every fault at once with its place, and hostile files.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import * as v from "valibot";
import { sentenceOfFault } from "./faults.ts";
import { type ConfigInput, type FileRead, type LoadedConfig, loadConfig, systemInput } from "./load.ts";
import { platforms } from "./platforms/index.ts";
import { type Config, configSchema } from "./schema.ts";
import { Secret, toPrintable } from "./secret.ts";

type Given = {
  readonly yaml?: string;
  readonly dotenv?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
};

function input({ yaml, dotenv, env = {}, files: more = {} }: Given): ConfigInput {
  const files = new Map([["/h/config.yaml", yaml], ["/h/.env", dotenv], ...Object.entries(more)]);
  const readFile = async (path: string): Promise<FileRead> => {
    const text = files.get(path);
    return text === undefined ? { type: "missing" } : { type: "read", bytes: Buffer.from(text) };
  };
  return { home: "/h", env, userHome: "/home/ann", cwd: "/", readFile };
}

async function configOf(given: Given): Promise<Config> {
  const loaded = await loadConfig(input(given));
  assert.equal(loaded.type, "loaded", loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault).join("\n") : "");
  if (loaded.type !== "loaded") throw new Error("unreachable");
  return loaded.config;
}

const sentences = (loaded: LoadedConfig) => (loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : []);
const faultsOf = async (given: Given) => sentences(await loadConfig(input(given)));

/** Platforms out there are off until somebody configures them; the HTTP API is there for the owner. */
const out = Object.fromEntries(
  Object.keys(platforms.entries).map((name) => [name, name === "api" ? v.parse(platforms.entries.api, {}) : false]),
);

test("without any file everything has its documented default", async () => {
  const loaded = await loadConfig(input({}));
  assert.equal(loaded.type, "loaded");
  if (loaded.type !== "loaded") return;
  assert.deepEqual(loaded.sources, { config: null, env: null, variables: [] });
  assert.equal(loaded.paths.store, "/h/state.db");
  assert.deepEqual(loaded.config, {
    agent: {
      backend: "echo",
      fallback: [],
      providers: {},
      maxSteps: 90,
      prices: {},
      budget: {},
      tools: {
        terminal: { sandbox: "auto", network: false, hosts: [], outside: false, unsafe: false },
        allowRoot: false,
        approvals: "dangerous",
        web: { allowPrivate: false },
        workspaces: "separate",
        shareWith: [],
      },
      mcp: {},
    },
    platforms: { ...out, web: { busy: "queue" }, terminal: { busy: "queue" } },
    control: { host: "127.0.0.1", port: 7433, auth: "token" },
    gateway: { drainSeconds: 0 },
    recovery: { afterCrash: "resume", autoResume: true },
    sessions: { reset: "never" },
    store: { url: "sqlite" },
    log: { level: "info", format: "auto" },
  });
});

test("an empty file and empty groups are as good as none", async () => {
  const nothing = await configOf({});
  for (const yaml of ["", "# nothing\n", "control:\ngateway: {}\nplatforms:\n  web:\nagent:\n", "\ufeffcontrol: {}\n"])
    assert.deepEqual(await configOf({ yaml }), nothing, JSON.stringify(yaml));
});

test("what this version can do is taken over from the file", async () => {
  const yaml = `
agent: { backend: echo }
platforms: { web: false, terminal: { busy: steer }, telegram: false }
control: { host: "::1", port: 0, auth: token }
gateway: { drainSeconds: 2.5 }
recovery: { afterCrash: resume, autoResume: true }
sessions: { reset: never }
store: { url: sqlite }
log: { level: debug, format: json }
`;
  const config = await configOf({ yaml });
  assert.deepEqual(config.platforms, { ...out, web: false, terminal: { busy: "steer" } });
  assert.deepEqual(config.control, { host: "::1", port: 0, auth: "token" });
  assert.equal(config.gateway.drainSeconds, 2.5);
  assert.deepEqual(config.log, { level: "debug", format: "json" });
});

test("the environment wins over .env, .env over the file, and all of them are named as sources", async () => {
  const given = {
    yaml: "control: { port: 1 }\ngateway: { drainSeconds: 1 }\nlog: { level: error }\n",
    dotenv: "EVERTURN_CONTROL__PORT=2\nEVERTURN_GATEWAY__DRAIN_SECONDS=2\n",
    env: { EVERTURN_CONTROL__PORT: "3", EVERTURN_PLATFORMS__WEB: "false", EVERTURN_LOG: '{"format": "json"}' },
  };
  const loaded = await loadConfig(input(given));
  assert.equal(loaded.type, "loaded");
  if (loaded.type !== "loaded") return;
  assert.equal(loaded.config.control.port, 3);
  assert.equal(loaded.config.gateway.drainSeconds, 2);
  assert.equal(loaded.config.platforms.web, false);
  assert.deepEqual(loaded.config.log, { level: "info", format: "json" });
  assert.deepEqual(loaded.sources, {
    config: "/h/config.yaml",
    env: "/h/.env",
    variables: ["EVERTURN_LOG", "EVERTURN_CONTROL__PORT", "EVERTURN_GATEWAY__DRAIN_SECONDS", "EVERTURN_PLATFORMS__WEB"],
  });
});

test("${NAME} becomes the kind of value that its key wants", async () => {
  const yaml = "control: { port: '${PORT}', host: '127.0.0.${LAST}' }\nlog:\n  level: ${LEVEL}\n";
  const config = await configOf({ yaml, env: { PORT: "8080", LAST: "1" }, dotenv: "LEVEL=warn" });
  assert.deepEqual(config.control, { port: 8080, host: "127.0.0.1", auth: "token" });
  assert.equal(config.log.level, "warn");
});

test("every fault is told at once, each with its place, its key, what is wrong and what to do", async () => {
  const yaml = `control:
  prot: 1
  host: 0.0.0.0
  port: "7433"
platforms:
  web: no
  carrierPigeon: {}
  telegram:
    token: \${TELEGRAM_BOT_TOKEN}
    tokn: x
agents: 1
gateway:
  drain_seconds: 5
  drainSeconds: \${DRAIN}
log: { level: inof, format: }
sessions: []
store: { url: "postgres://ann:pw@x/y" }
agent: { backend: modl, apiKey: "\${KEY}" }
recovery: { autoResume: "yes", afterCrash: suspended }
`;
  const here = Object.keys(platforms.entries);
  const dotenv = "A=1\nnonsense\nEVERTURN_LOG__LEVELS=loud\n";
  const env = { EVERTURN_CONTROL_PORT: "5", EVERTURN_PLATFORMS__TERMINAL__BUSY: "never", EVERTURN_NOPE__X: "1" };
  assert.deepEqual(await faultsOf({ yaml, dotenv, env }), [
    "/h/config.yaml, line 2: control.prot is not known; did you mean port?",
    '/h/config.yaml, line 3: control.host is "0.0.0.0", which is not available in this version; write 127.0.0.1 or remove it',
    '/h/config.yaml, line 4: control.port must be a whole number from 0 to 65535, but is "7433"; remove the quotes',
    '/h/config.yaml, line 6: platforms.web must be a group of settings, or false to switch it off, but is "no"; write false',
    `/h/config.yaml, line 7: platforms.carrierPigeon is not available in this version; remove it; the platforms of this version are ${here.slice(0, -1).join(", ")} and ${here.at(-1)}`,
    "/h/config.yaml, line 9: platforms.telegram.token needs TELEGRAM_BOT_TOKEN, which is not set; set TELEGRAM_BOT_TOKEN in the environment or in .env",
    "/h/config.yaml, line 10: platforms.telegram.tokn is not known; did you mean token?",
    "/h/config.yaml, line 11: agents is not known; did you mean agent?",
    "/h/config.yaml, line 13: gateway.drain_seconds is not known; did you mean drainSeconds?",
    "/h/config.yaml, line 14: gateway.drainSeconds needs DRAIN, which is not set; set DRAIN in the environment or in .env",
    '/h/config.yaml, line 15: log.level must be debug, info, warn or error, but is "inof"; did you mean info?',
    "/h/config.yaml, line 15: log.format is empty; give it a value or remove it; it must be json, pretty or auto",
    "/h/config.yaml, line 16: sessions must be a group of settings, not a list; write key: value lines below it, without dashes",
    '/h/config.yaml, line 17: store.url is "postgres://ann:[secret]@x/y", which is not available in this version; write sqlite or remove it',
    "/h/config.yaml, line 18: agent.apiKey needs KEY, which is not set; set KEY in the environment or in .env",
    '/h/config.yaml, line 18: agent.backend must be echo, model or acp, but is "modl"; did you mean model?',
    '/h/config.yaml, line 19: recovery.afterCrash must be resume or suspend, but is "suspended"; did you mean suspend?',
    '/h/config.yaml, line 19: recovery.autoResume must be true or false, but is "yes"; write true',
    "/h/.env, line 2: this line is not NAME=value; correct it, or begin it with # to leave it out",
    "EVERTURN_LOG__LEVELS in /h/.env, line 3: log.levels is not known; did you mean EVERTURN_LOG__LEVEL?",
    "EVERTURN_CONTROL_PORT: sets nothing; write EVERTURN_CONTROL__PORT (two underscores between levels) or unset it",
    "EVERTURN_NOPE__X: nope is not known; remove it; known here: agent, platforms, control, gateway, recovery, sessions, store, log",
    "EVERTURN_PLATFORMS__TERMINAL__BUSY: platforms.terminal.busy must be queue, interrupt or steer; correct or unset the variable",
  ]);
});

test("wrong kinds of values are refused with what would be right", async () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["- a\n- b\n", /line 1: the configuration must be groups of settings/],
    ["just text\n", /line 1: the configuration must be groups of settings/],
    ["42\n", /line 1: the configuration must be groups of settings/],
    ["control: 5\n", /control must be a group of settings, but is 5/],
    ["control: { port: 65536 }\n", /whole number from 0 to 65535, but is 65536/],
    ["control: { port: -1 }\n", /whole number from 0 to 65535, but is -1/],
    ["control: { port: 1.5 }\n", /whole number from 0 to 65535, but is 1.5/],
    ["control: { port: 99999999999999999999 }\n", /whole number .*, but is 99999999999999999999/],
    ["control: { port: .inf }\n", /whole number .*, but is Infinity/],
    ["control: { port: .nan }\n", /whole number .*, but is NaN/],
    ["control: { port: [1] }\n", /whole number .*, but is a list/],
    ["control: { port: null }\n", /control.port is empty; give it a value or remove it/],
    ["control: { host: 5 }\n", /control.host must be text, but is 5; put it in quotes/],
    ["control: { host: '' }\n", /control.host must not be empty/],
    ["control: { auth: nobody }\n", /control.auth must be token, password or header/],
    ["gateway: { drainSeconds: -0.5 }\n", /a number from 0 to 86400, but is -0.5/],
    ["platforms: { web: true }\n", /platforms.web must be a group .*, but is true; write \{\} to use it as it is/],
    ["platforms: { web: [] }\n", /platforms.web must be a group of settings, not a list/],
    ["platforms: { web: { busy: later } }\n", /platforms.web.busy must be queue, interrupt or steer, but is "later"/],
    ["platforms: { web: { bussy: queue } }\n", /platforms.web.bussy is not known; did you mean busy\?/],
    ["store: { url: mysql://x }\n", /store.url must be sqlite or begin with postgres/],
    ["sessions: { reset: nver }\n", /sessions.reset must be never, .* but is "nver"/],
    ["log: { level: 'in\\nfo\\u001b[31m' }\n", /log.level must be .*, but is "in\\\\nfo/],
    ["log:\n  level: ${not a name}\n", /log.level holds \$\{ without a name and \}; write \$\{NAME\}/],
    ["__proto__: { x: 1 }\n", /__proto__ is not known/],
    ["constructor: 1\n", /constructor is not known/],
    ["agent: { toString: 1 }\n", /agent.toString is not known/],
    ["<<: { control: { port: 1 } }\n", /"<<" is not known/],
  ];
  for (const [yaml, sentence] of rows) {
    const faults = await faultsOf({ yaml });
    assert.equal(faults.length, 1, `${yaml}: ${faults.join(" | ")}`);
    assert.match(faults[0] ?? "", sentence);
  }
});

test("a value from a variable is never repeated in a fault", async () => {
  const env = { S: "sk-very-secret", EVERTURN_CONTROL__PORT: "sk-very-secret", EVERTURN_LOG: '["sk-very-secret' };
  const yaml =
    "log: { level: '${S}' }\ngateway: { drainSeconds: '${S}' }\nstore: { url: '${S}' }\ncontrol: { host: '${S}' }\n";
  for (const given of [
    { yaml, env },
    { yaml, dotenv: "S=sk-very-secret" },
  ]) {
    const faults = await faultsOf(given);
    assert.ok(faults.length >= 4);
    assert.doesNotMatch(faults.join("\n"), /sk-very/);
  }
});

test("a hundred faults are shown, more are counted", async () => {
  const yaml = Array.from({ length: 150 }, (_, i) => `k${i}: 1`).join("\n");
  const faults = await faultsOf({ yaml });
  assert.equal(faults.length, 101);
  assert.match(faults[100] ?? "", /50 more faults/);
  const long = await faultsOf({ yaml: `${"x".repeat(900)}: 1\n` });
  assert.ok((long[0] ?? "").length < 300);
});

test("the real reader: folders, pipes, too large, not UTF-8, a file where the home should be", async () => {
  const home = await mkdtemp(join(tmpdir(), "everturn-config-"));
  after(() => rm(home, { recursive: true, force: true }));
  const load = async (folder = home) => sentences(await loadConfig({ ...systemInput(folder), env: {} }));
  assert.deepEqual(await load(), []);
  const file = join(home, "config.yaml");
  const rows: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
    [() => mkdir(file), /config.yaml: the file cannot be read \(it is not a file\); move it away/],
    [() => symlink("config.yaml", file), /the file cannot be read \(ELOOP\)/],
    [() => writeFile(file, "#".repeat(1_048_577)), /the file is larger than 1 MB; make it smaller/],
    [
      () => writeFile(file, Buffer.from("log: { level: info }", "utf16le").fill(0xff, 0, 2)),
      /is not UTF-8 text; save it as UTF-8/,
    ],
    [() => promisify(execFile)("mkfifo", [file]), /it is not a file/],
  ];
  for (const [make, sentence] of rows) {
    await make();
    assert.match((await load()).join("\n"), sentence);
    await rm(file, { recursive: true });
  }
  await writeFile(file, `#${" ".repeat(1_000_000)}\nlog: { level: debug }\n`);
  assert.deepEqual(await load(), []);
  assert.match((await load(file)).join("\n"), /ENOTDIR/);
});

test("files that may not be read are faults, both at once", async () => {
  const readFile = async (): Promise<FileRead> => ({ type: "unreadable", why: "EACCES" });
  const faults = sentences(await loadConfig({ ...input({}), readFile }));
  const todo = "the file cannot be read (EACCES); give this user the right to read it, or remove it";
  assert.deepEqual(faults, [`/h/config.yaml: ${todo}`, `/h/.env: ${todo}`]);
});

test("secrets are wrapped, kept as text whatever they look like, and do not print", async () => {
  // Through the schema itself, because this version refuses some of the keys that hold secrets.
  const { safeParse } = await import("valibot");
  const parsed = safeParse(configSchema, {
    agent: { backend: "model", model: "openai/gpt", apiKey: "sk-1", mcp: { files: { command: ["npx", "-y"] } } },
    platforms: { telegram: { token: "1:AA", allow: [1, "ann", 123456789012345678n], home: { chat: "5" } } },
    sessions: { reset: { dailyAt: "04:00" } },
    store: { url: "postgres://ann:pw@host/db" },
  });
  assert.ok(parsed.success);
  const { agent, platforms } = parsed.output;
  assert.ok(agent.apiKey?.[0] instanceof Secret && agent.apiKey[0].reveal() === "sk-1");
  assert.ok(platforms.telegram !== false && platforms.telegram.token.reveal() === "1:AA");
  assert.deepEqual(platforms.telegram.allow, ["1", "ann", "123456789012345678"]);
  const printed = JSON.stringify(toPrintable(parsed.output));
  assert.doesNotMatch(printed, /sk-1|1:AA|pw@/);
  assert.match(printed, /"token":"\[secret\]"/);
});

test("a model without a backend means the model backend", async () => {
  const { safeParse } = await import("valibot");
  const parsed = safeParse(configSchema, { agent: { model: "anthropic/x" } });
  assert.equal(parsed.success && parsed.output.agent.backend, "model");
});

test("without a config.yaml the YAML parser is not loaded", async () => {
  const home = await mkdtemp(join(tmpdir(), "everturn-config-"));
  after(() => rm(home, { recursive: true, force: true }));
  const program = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ resolve(name, context, next) { seen.push(name); return next(name, context); } });
    const { loadConfig, systemInput } = await import(${JSON.stringify(new URL("load.ts", import.meta.url).href)});
    const loaded = await loadConfig(systemInput(${JSON.stringify(home)}));
    console.log(loaded.type, seen.includes("valibot"), seen.includes("yaml"));`;
  const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { env: {} });
  assert.equal((await run()).stdout.trim(), "loaded true false");
  await writeFile(join(home, "config.yaml"), "control: { port: 0 }\n");
  assert.equal((await run()).stdout.trim(), "loaded true true");
});

test("what becomes of interrupted work can be chosen", async () => {
  const { recovery } = await configOf({ yaml: "recovery: { afterCrash: suspend, autoResume: false }\n" });
  assert.deepEqual(recovery, { afterCrash: "suspend", autoResume: false });
});

test("faults of every kind are reported in one look", async () => {
  const yaml = [
    "gateway: { drainSeconds: soon }",
    "agent: { backend: model, model: openai/gpt-5, instructionsFile: gone.md, tools: { workspace: notes.txt, allowRoot: 5 } }",
    "platforms: { telegram: { token: 5 }, slack: { botToken: wrong } }",
  ].join("\n");
  const loaded = await loadConfig(input({ yaml, files: { "/h/notes.txt": "a file" } }));
  const found = loaded.type === "wrong" ? loaded.faults.map(({ key }) => key) : [];
  assert.deepEqual(found.toSorted(), [
    "agent.instructionsFile",
    "agent.model",
    "agent.tools.allowRoot",
    "agent.tools.workspace",
    "gateway.drainSeconds",
    "platforms.slack.appToken",
    "platforms.slack.botToken",
    "platforms.telegram.token",
  ]);
});

test("a workspace that is a file is refused, also the one in the home", async () => {
  const named = await faultsOf({ yaml: "agent: { tools: { workspace: notes.txt } }", files: { "/h/notes.txt": "" } });
  assert.match(named.join("\n"), /agent\.tools\.workspace is \/h\/notes\.txt, which is a file; move the file away/);
  const usual = await faultsOf({ files: { "/h/workspace": "" } });
  assert.match(usual.join("\n"), /agent\.tools\.workspace is \/h\/workspace, which is a file/);
});
