// The house as data: who may import whom, how large things may grow, and which words, names and calls do not belong.
// A rule is a function from one file to its faults, and has planted faults of its own that it must find.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, test } from "node:test";
import { type Import, type Source, functionsOf, importsOf, readSource } from "./tidy/source.ts";

const root = join(import.meta.dirname, "..");

/** Folders that hold other people's files, or files that are made. */
const ignored = new Set(["node_modules", "dist", ".git", "coverage"]);
const textFiles =
  /\.(?:ts|js|mjs|json|md|html|css|svg|sh|yaml|yml|sql|txt)$|^[^.]+$|^\.[a-z]+rc(?:\.json)?$|^\.gitignore$/;

function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (ignored.has(entry.name) || entry.name.endsWith(".log")) return [];
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? walk(path) : textFiles.test(entry.name) ? [path] : [];
  });
}

const isCode = (path: string): boolean => /\.(?:ts|js|mjs)$/.test(path);
const isTest = (path: string): boolean => path.endsWith(".test.ts") || path.startsWith("test/");
/** Suites about real processes, browsers and installs: in folders of their own, run by commands of their own. */
const isMachineSuite = (path: string): boolean => /^test\/[^/]+\/.*\.test\.ts$/.test(path);
/** Sources of the product: what users run. */
const isProduct = (path: string): boolean => isCode(path) && !isTest(path) && /^(?:src|page\/src)\//.test(path);
const below = (path: string, ...folders: readonly string[]): boolean =>
  folders.some((folder) => path.startsWith(`src/${folder}/`));

// ---------------------------------------------------------------------------------------------- who may import whom

type Allowed = {
  /** Folders below src; "own" is the file's own folder with all in it, as deep as its group is, "beside" without. */
  readonly to: readonly string[];
  /** `node:` modules: all, none, or these. */
  readonly node?: "all" | readonly string[];
  readonly packages?: readonly string[];
};

/** The first group whose pattern fits the path of a file. */
const table: readonly (readonly [group: RegExp, allowed: Allowed])[] = [
  [/^src\/core\//, { to: ["core"], node: ["node:crypto"] }],
  [/^src\/ports\//, { to: ["core", "ports"] }],
  [/^src\/engine\//, { to: ["core", "ports", "engine"] }],
  [/^src\/(?:stores|platforms|agents)\/[^/]+\.ts$/, { to: ["core", "ports", "config", "own"], node: "all" }],
  [/^src\/stores\/[^/]+\//, { to: ["core", "ports", "own"], node: "all" }],
  // One library each, of the platform itself; all of them can write markdown their own way.
  ...Object.entries({
    telegram: ["grammy"],
    discord: ["@discordjs/ws", "@discordjs/rest", "discord-api-types"],
    slack: ["@slack/socket-mode", "@slack/web-api"],
    email: ["imapflow", "nodemailer", "postal-mime", "htmlparser2"],
    chat: ["hono", "@hono/node-server"],
  }).map(([name, packages]): readonly [RegExp, Allowed] => [
    new RegExp(`^src/platforms/${name}/`),
    { to: ["core", "ports", "own", "markup"], node: "all", packages },
  ]),
  [/^src\/platforms\/[^/]+\//, { to: ["core", "ports", "own", "markup"], node: "all" }],
  [/^src\/markup\//, { to: ["core", "markup"], packages: ["marked"] }],
  [
    /^src\/agents\/acp\//,
    { to: ["core", "ports", "own", "peers"], node: "all", packages: ["@agentclientprotocol/sdk"] },
  ],
  [
    /^src\/agents\/model\//,
    {
      to: ["core", "ports", "own"],
      node: "all",
      packages: ["provider", "openai", "openai-compatible", "anthropic", "google"].map((name) => `@ai-sdk/${name}`),
    },
  ],
  [/^src\/agents\/[^/]+\//, { to: ["core", "ports", "own"], node: "all" }],
  [
    /^src\/tools\/mcp\//,
    { to: ["core", "ports", "tools", "peers"], node: "all", packages: ["@modelcontextprotocol/client"] },
  ],
  [/^src\/sandbox\//, { to: ["core", "ports", "sandbox"], node: "all" }],
  [/^src\/peers\//, { to: ["core", "ports", "peers"], node: "all" }],
  [/^src\/tools\//, { to: ["core", "ports", "tools"], node: "all", packages: ["valibot"] }],
  [/^src\/config\//, { to: ["core", "config"], node: "all", packages: ["valibot", "yaml"] }],
  [
    /^src\/control\//,
    { to: ["core", "ports", "control"], node: "all", packages: ["hono", "@hono/node-server", "valibot"] },
  ],
  [/^src\/host\//, { to: ["core", "ports", "host"], node: "all" }],
  [/^src\/services\//, { to: ["core", "config", "host", "services"], node: "all" }],
  [/^src\/log\//, { to: ["core", "ports", "log"], node: "all" }],
  [
    /^src\/cli\//,
    {
      to: ["core", "config", "control/client.ts", "control/protocol.ts", "host", "services", "log", "cli"],
      node: "all",
    },
  ],
  [
    /^src\/sim\//,
    { to: ["core", "ports", "engine", "sim"], node: ["node:timers", "node:timers/promises", "node:util"] },
  ],
  [/^src\/testing\//, { to: ["core", "ports", "testing"], node: ["node:test", "node:assert", "node:assert/strict"] }],
  [/^src\/index\.ts$/, { to: ["core", "ports", "engine", "stores", "world.ts"] }],
  // The composition: main and the files beside it are the only ones that know everyone.
  [
    /^src\/(?:run\/(?:(?:after|agent|next|platforms)\/)?)?[^/]+\.ts$/,
    {
      to: ["beside", "run", "narrate.ts", "world.ts", "../bin/attend.js", ...everythingBut("sim", "testing")],
      node: "all",
      packages: ["hono", "@hono/node-server"],
    },
  ],
  [/^page\/src\//, { to: ["own"], packages: ["preact", "@preact/signals", "marked"] }],
];

function everythingBut(...left: readonly string[]): readonly string[] {
  const folders =
    "core ports engine stores platforms markup agents tools sandbox peers config control host services log cli sim testing".split(
      " ",
    );
  return folders.filter((folder) => !left.includes(folder));
}

type Fault = { readonly path: string; readonly line: number; readonly rule: string; readonly what: string };
type Rule = {
  readonly name: string;
  readonly on: (path: string) => boolean;
  readonly find: (source: Source) => readonly { readonly line: number; readonly what: string }[];
  /** Files that break the rule: path and text. */
  readonly planted: readonly (readonly [path: string, text: string])[];
  /** Files that keep it, though they look like it. */
  readonly innocent?: readonly (readonly [path: string, text: string])[];
};

/** Where an import leads: a path from the root, or the name of a package or `node:` module. */
function targetOf(path: string, { specifier }: Import): string {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier;
}

function refusal(path: string, one: Import): string | null {
  const allowed = table.find(([group]) => group.test(path));
  if (allowed === undefined) return "this folder is not in the import table";
  const [group, { to, node = [], packages = [] }] = allowed;
  const target = targetOf(path, one);
  if (target.startsWith("node:")) return node === "all" || node.includes(target) ? null : `may not use ${target}`;
  if (!one.specifier.startsWith(".")) {
    const name = target.split("/", target.startsWith("@") ? 2 : 1).join("/");
    return packages.includes(name) ? null : `may not use the package ${name}`;
  }
  if (target.endsWith(".test.ts")) return "nobody imports a test";
  const own = group.exec(path)?.[0].replace(/[^/]+\.ts$/, "") ?? "";
  const fits = to.some((folder) => {
    if (folder === "own") return target.startsWith(own);
    if (folder === "beside") return posix.dirname(target) === posix.dirname(path);
    return target === posix.join("src", folder) || target.startsWith(`src/${folder}/`);
  });
  return fits ? null : `may not import ${target}`;
}

const importRule: Rule = {
  name: "the import table",
  on: isProduct,
  find: (source) =>
    importsOf(source).flatMap((one) => {
      const what = refusal(source.path, one);
      return what === null ? [] : [{ line: one.line, what }];
    }),
  planted: [
    ["src/core/x.ts", 'import { a } from "../ports/store.ts";'],
    ["src/core/x.ts", 'import type { A } from "../ports/store.ts";'],
    ["src/core/x.ts", 'import {\n  a,\n} from "node:fs";'],
    ["src/engine/x.ts", 'export { a } from "../stores/sqlite/index.ts";'],
    ["src/engine/x.ts", 'const a = await import("../main.ts");'],
    ["src/stores/sqlite/x.ts", 'import { a } from "../postgres/index.ts";'],
    ["src/platforms/chat/x.ts", 'import { a } from "../telegram/api.ts";'],
    ["src/platforms/chat/x.ts", 'import { a } from "grammy";'],
    ["src/cli/x.ts", 'import { a } from "../control/server.ts";'],
    ["src/testing/x.ts", 'import { a } from "node:fs";'],
    ["src/main.ts", 'import { a } from "./sim/world.ts";'],
    ["src/run.ts", 'import { a } from "./testing/index.ts";'],
    ["src/engine/x.ts", 'import { a } from "../world.ts";'],
    ["src/log/x.ts", 'import { a } from "./json.test.ts";'],
    ["src/novelty/x.ts", 'import { a } from "../core/ids.ts";'],
    ["page/src/x.ts", 'import { a } from "../../src/core/ids.ts";'],
    ["src/core/x.ts", 'import "../engine/lanes.ts";'],
  ],
  innocent: [
    ["src/core/x.ts", '// import { a } from "../engine/lanes.ts";\nimport { a } from "./ids.ts";'],
    ["src/core/x.ts", 'const text = `import { a } from "../engine/lanes.ts"`;'],
    ["src/cli/x.ts", 'import { a } from "../control/client.ts";'],
    ["src/platforms/chat/x.ts", 'import { a } from "./deep/y.ts"; import { Hono } from "hono/tiny";'],
    ["src/run.ts", 'import { a } from "./world.ts"; import { b } from "./engine/gateway.ts";'],
    ["src/agents/registry.ts", 'const a = () => import("./echo/index.ts");'],
  ],
};

/** Imports that exist when the program runs, from file to file. */
function cyclesIn(sources: readonly Source[]): readonly Fault[] {
  const edges = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source)
        .filter((one) => one.value)
        .map((one) => targetOf(source.path, one)),
    ]),
  );
  const state = new Map<string, "open" | "done">();
  const faults: Fault[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === "done") return;
    if (state.get(path) === "open") {
      const cycle = [...trail.slice(trail.indexOf(path)), path];
      faults.push({ path, line: 1, rule: "no import cycles", what: cycle.join(" → ") });
      return;
    }
    state.set(path, "open");
    for (const next of edges.get(path) ?? []) if (edges.has(next)) visit(next, [...trail, path]);
    state.set(path, "done");
  };
  for (const path of edges.keys()) visit(path, []);
  return faults;
}

// ------------------------------------------------------------------------------------------------- words and calls

/** A rule that a pattern must not occur: in the code itself, in code with its strings, or in the whole text. */
function never(
  name: string,
  on: (path: string) => boolean,
  where: "code" | "strings" | "text",
  pattern: RegExp,
  planted: Rule["planted"],
  innocent: Rule["innocent"] = [],
): Rule {
  const find: Rule["find"] = (source) =>
    [...source[where].matchAll(pattern)].map((found) => ({ line: source.lineAt(found.index), what: found[0].trim() }));
  return { name, on, find, planted, innocent };
}

const pure = (path: string): boolean => isProduct(path) && below(path, "core", "ports", "engine");
const isLockOrStore = (path: string): boolean => below(path, "stores/sqlite") || path === "src/host/lock.ts";

const rules: readonly Rule[] = [
  importRule,
  never(
    "time, chance and the process come in through the world",
    pure,
    "code",
    /\b(?:Date\.now|new Date\(\)|Math\.random|set(?:Timeout|Interval|Immediate)|performance\.|AbortSignal\.timeout|randomUUID|process\.|console\.)/g,
    [
      ["src/core/x.ts", "const a = Date.now();"],
      ["src/engine/x.ts", "const a = new Date();"],
      ["src/engine/x.ts", "setTimeout(a, 1);"],
      ["src/ports/x.ts", "console.log(`${process.pid}`);"],
      ["src/engine/x.ts", "const a = `at ${Math.random()}`;"],
    ],
    [
      ["src/core/x.ts", "// Date.now() is not used here\nconst a = 'Math.random';"],
      ["src/engine/x.test.ts", "setTimeout(a, 1);"],
      ["src/log/x.ts", "const a = Date.now();"],
    ],
  ),
  never(
    "the environment is read in config/load.ts",
    (path) => isProduct(path) && path !== "src/config/load.ts",
    "code",
    /\bprocess\.env\b|\benv\b[^\n]*= process;/g,
    [["src/cli/x.ts", "const a = process.env['HOME'];"]],
    [["src/config/load.ts", "const a = process.env;"]],
  ),
  never(
    "node:sqlite is used in stores/sqlite and host/lock.ts",
    (path) => isProduct(path) && !isLockOrStore(path),
    "strings",
    /["']node:sqlite["']/g,
    [["src/control/x.ts", 'import { DatabaseSync } from "node:sqlite";']],
    [["src/host/lock.ts", 'import { DatabaseSync } from "node:sqlite";']],
  ),
  never(
    "lock and database files are named in config/paths.ts alone",
    (path) => isProduct(path) && !isLockOrStore(path) && path !== "src/config/paths.ts",
    "strings",
    // Removing what a copy left beside it is no opening.
    /["'`/](?:gateway\.lock|state\.db)\b|^(?![^\n]*\brmSync\()[^\n]*-(?:wal|shm)\b(?=["'`])/gm,
    [
      ["src/cli/x.ts", 'const a = join(home, "state.db");'],
      ["src/cli/x.ts", "const a = `${file}-wal`;"],
    ],
    [["src/config/paths.ts", 'const a = join(home, "gateway.lock");']],
  ),
  never(
    // On POSIX, closing any descriptor of a locked file drops the locks that the process holds on it.
    "lock and database files are never opened with fs",
    isProduct,
    "code",
    /\b(?:open|readFile|writeFile|appendFile|copyFile|cp|truncate|rename|createReadStream|createWriteStream)(?:Sync)?\([^;\n]*\.(?:lock|store)\b(?!\()/g,
    [
      ["src/cli/x.ts", "const a = readFileSync(paths.lock);"],
      ["src/cli/x.ts", "await copyFile(paths.store, to);"],
    ],
    [["src/main.ts", "const store = await openSqliteStore({ file: paths.store });"]],
  ),
  {
    name: "the SQLite store and the lock ask fs only about files, and open none",
    on: (path) => isProduct(path) && isLockOrStore(path),
    find: (source) =>
      importsOf(source)
        .filter((one) => /^node:fs(?:\/promises)?$/.test(one.specifier))
        .flatMap((one) => one.names.map((name) => ({ line: one.line, what: name })))
        .filter(({ what }) => !/^(?:stat|statfs|lstat|exists|mkdir|access|constants|chmod)(?:Sync)?$/.test(what)),
    planted: [
      ["src/stores/sqlite/x.ts", 'import { readFileSync, statSync } from "node:fs";'],
      ["src/host/lock.ts", 'import * as fs from "node:fs";'],
      ["src/host/lock.ts", 'import { open } from "node:fs/promises";'],
    ],
    innocent: [["src/stores/sqlite/x.ts", 'import { statSync, statfsSync } from "node:fs";']],
  },
  never("no default export", isCode, "code", /\bexport\s+default\b|\bas default\b/g, [
    ["src/x/y.ts", "export default function a() {}"],
    ["scripts/x.ts", "export { a as default };"],
  ]),
  never("no export *", isCode, "code", /\bexport\s+(?:type\s+)?\*/g, [["src/index.ts", 'export * from "./a.ts";']]),
  never(
    "nothing at the top of a file can be assigned again",
    (path) => isCode(path) && !isTest(path),
    "code",
    /^(?:export\s+)?(?:let|var)\b[^\n]*/gm,
    [["src/x/y.ts", "let a = 1;"]],
    [["src/x/y.ts", "function f() {\n  let a = 1;\n}"]],
  ),
  never(
    "nothing at the top of a file can be filled",
    (path) => isProduct(path) && below(path, "core", "engine"),
    "code",
    /^(?:export\s+)?const\s+\w+(?::(?!\s*(?:readonly|Readonly))[^=\n]+)?\s*=\s*(?:new\s+(?:Weak)?(?:Map|Set|Array)\b|\[(?![^;]*\]\s*as\s+const))[^\n]*/gm,
    [
      ["src/core/x.ts", "const seen = new Map<string, number>();"],
      ["src/engine/x.ts", "export const list: string[] = [];"],
      ["src/engine/x.ts", "const list = [1, 2];"],
    ],
    [
      ["src/core/x.ts", "const list: readonly string[] = ['a'];"],
      ["src/core/x.ts", "const list = ['a'] as const;"],
      ["src/core/x.ts", "const known: ReadonlySet<string> = new Set(['a']);"],
      ["src/core/x.ts", "function f() {\n  const seen = new Map();\n}"],
    ],
  ),
  never(
    "every catch translates, records or rethrows",
    (path) => isCode(path) && !isTest(path),
    "code",
    /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}|\.catch\(\s*\(\w*\)\s*=>\s*(?:\{\s*\}|undefined|null)\s*\)/g,
    [
      ["src/x/y.ts", "try {\n  a();\n} catch {}"],
      ["src/x/y.ts", "try {\n  a();\n} catch (error) {\n  // nothing to do\n}"],
      ["src/x/y.ts", "void a().catch(() => {});"],
      ["page/src/y.ts", "void a().catch(() => undefined);"],
    ],
    [["src/x/y.ts", "try {\n  a();\n} catch (error) {\n  throw new Fault('busy', 'x', error);\n}"]],
  ),
  never(
    "the content of an answer is handed on by contentOf, which holds the answer too",
    (path) => isProduct(path) && path !== "src/ports/content.ts",
    "code",
    /\b(?:answer|response|reply)\.body\b(?!\s*[!=]==|\?\.cancel\(|\.pipeThrough\(|\.getReader\()|\bbody\b[^;\n]*\} = await fetch\(/g,
    [
      ["src/x/y.ts", "return answer.body;"],
      ["src/x/y.ts", "put(bounded(response.body), facts);"],
      ["src/x/y.ts", "const { ok, body } = await fetch(url);"],
    ],
    [
      ["src/x/y.ts", "if (answer.body === null) return;"],
      ["src/x/y.ts", "await answer.body?.cancel();"],
      ["src/x/y.ts", "const lines = response.body.pipeThrough(decoder);"],
    ],
  ),
  never(
    "who waits until an abort does it by orAborted, which leaves nothing with the signal",
    (path) => isProduct(path),
    "code",
    /Promise\.race\(\[[^\]]*\baborted\b/g,
    [
      ["src/x/y.ts", "await Promise.race([work, aborted(signal)]);"],
      ["src/x/y.ts", "await Promise.race([\n  take(event),\n  aborted.promise,\n]);"],
    ],
    [["src/x/y.ts", "await orAborted(work, signal);"]],
  ),
  never("no notes to ourselves", () => true, "text", /\b(?:TO[D]O|FIX[M]E|HA[C]K|XX[X])\b/g, [
    ["src/x/y.ts", `// ${"TO"}DO: later`],
    ["README.md", `${"FIX"}ME`],
  ]),
  never(
    "no test is skipped",
    (path) => (isTest(path) && !isMachineSuite(path)) || below(path, "testing"),
    "code",
    /\b(?:test|it|describe|suite|t)\.(?:skip|todo|only)\b|\b(?:skip|todo|only):/g,
    [
      ["src/x/y.test.ts", "test.skip('a', () => {});"],
      ["src/x/y.test.ts", "test('a', { skip: true }, () => {});"],
      ["test/y.test.ts", "test('a', (t) => t.skip());"],
    ],
  ),
  never(
    "no suite of the machine is skipped, except where the machine lacks what it is about",
    isMachineSuite,
    "code",
    /\b(?:test|it|describe)\.(?:skip|todo|only)\b|\b(?:skip|todo|only):\s*(?:true|["'`]\s*["'`])\s*[,}]/g,
    [
      ["test/process/y.test.ts", "test.only('a', () => {});"],
      ["test/process/y.test.ts", "test('a', { skip: 'slow' }, () => {});"],
    ],
    [["test/package/y.test.ts", "test('a', { skip: oldNode === null }, () => {});"]],
  ),
  never(
    // Ann is the user in our examples.
    "nothing of one machine",
    (path) => path !== "package-lock.json",
    "text",
    /(?<![\w.~}-])\/(?:wor[k]|roo[t]|hom[e]\/(?!ann\b)[a-z])[\w-]*\/[\w.-]*|registr[y]\.(?!npmjs\.org|yarnpkg\.com)[\w-]+\.[a-z]+/g,
    [
      ["README.md", `cd ${"/wor"}k/main`],
      ["src/x/y.ts", `const a = "${"/hom"}e/ada/x";`],
      ["package.json", `"registry": "https://${"registr"}y.example.org/"`],
    ],
    [
      ["src/x/y.ts", 'const a = "web/home/c1";'],
      ["src/x/y.ts", 'import a from "../workers/x.ts";'],
    ],
  ),
  {
    name: "every source opens with a comment that says what it is",
    on: (path) => isCode(path) && !isTest(path),
    find: ({ text }) =>
      /^(?:#![^\n]*\n)?(?:\/\/ \S|\/\*\*? ?\n? ?\*? ?\S)/.test(text) ? [] : [{ line: 1, what: text.slice(0, 60) }],
    planted: [
      ["src/x/y.ts", "export const a = 1;"],
      ["src/x/y.ts", '\n// Late.\nimport "./z.ts";'],
    ],
    innocent: [["bin/y.js", "#!/usr/bin/env node\n// The launcher."]],
  },
  {
    name: "names of files say what they hold",
    on: () => true,
    find: ({ path }) => {
      const banned = /^(?:manager|service|handler|helper|util|common|shared|base|impl)s?$/;
      // The one place where the word is what the thing is: one case per command.
      if (path === "src/control/handlers.ts") return [];
      // And the one where it is the word of every operating system: what its supervisor keeps running.
      return path
        .replace(/^(?:src|test)\/services\//, "")
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter((word) => banned.test(word))
        .map((what) => ({ line: 1, what }));
    },
    planted: [
      ["src/x/session-manager.ts", "// A."],
      ["src/utils/y.ts", "// A."],
      ["src/services/session-service.ts", "// A."],
    ],
    innocent: [
      ["src/x/database.ts", "// A."],
      ["src/services/systemd.ts", "// A."],
    ],
  },
  {
    name: "files are short: 400 lines, tests 700",
    on: isCode,
    find: (source) => {
      const limit = isTest(source.path) ? 700 : 400;
      const { lines } = source;
      return lines > limit ? [{ line: limit + 1, what: `${lines} lines` }] : [];
    },
    planted: [["src/x/y.ts", `// A.\n${"a();\n".repeat(400)}`]],
    innocent: [["src/x/y.ts", `// A.\n${"a();\n".repeat(299)}`]],
  },
  {
    // The lines of a function inside another count for the inner one alone: a factory is as long as what it holds.
    name: "functions are short: 70 lines of their own",
    on: (path) => isCode(path) && !isTest(path),
    find: (source) =>
      functionsOf(source)
        .filter(({ lines }) => lines > 70)
        .map(({ line, lines, name }) => ({ line, what: `${name} has ${lines} lines` })),
    planted: [
      ["src/x/y.ts", `function a(): void {\n${calls(69)}}`],
      ["src/x/y.ts", `export async function a(\n  b: C,\n): Promise<{ readonly c: D } | null> {\n${calls(67)}}`],
      ["src/x/y.ts", `function a(): (b: C) => void {\n${calls(69)}}`],
      ["src/x/y.ts", `function a(): { b: C } {\n${calls(69)}}`],
      ["src/x/y.ts", `const a = async (): Promise<void> => {\n${calls(69)}};`],
      ["src/x/y.ts", `const a = (b: C) =>\n  h("div", null, [\n${"b,\n".repeat(68)}]);`],
      ["src/x/y.ts", `class A {\n  get b(): { c: string } {\n${calls(69)}}\n}`],
      ["src/x/y.ts", `const a = {\n  async b(c = "}"): Promise<Map<{ d: E }, F>> {\n${calls(69)}},\n};`],
      ["src/x/y.ts", `function a(): void {\n  function b() {\n${calls(69)}}\n}`],
      ["src/x/y.ts", `function a(): void {\n  c(() => {\n${calls(9)}});\n${calls(68)}}`],
    ],
    innocent: [
      ["src/x/y.ts", `function a(): void {\n${calls(68)}}`],
      ["src/x/y.ts", `function a(): void {\n  function b() {\n${calls(60)}}\n  const c = () => {\n${calls(60)}};\n}`],
      ["src/x/y.ts", `const a = {\n${"  b: 1,\n".repeat(80)}};`],
      ["src/x/y.ts", `type A = (b: string) => void;\n${"type B = 1;\n".repeat(80)}`],
      ["src/x/y.ts", `const a = [1].map((b) => b);\nif (c(d)) {\n${calls(80)}}`],
    ],
  },
];

function calls(times: number): string {
  return "b();\n".repeat(times);
}

// ------------------------------------------------------------------------------------------------------- the house

function check(sources: readonly Source[], chosen: readonly Rule[]): readonly Fault[] {
  return sources.flatMap((source) =>
    chosen
      .filter((rule) => rule.on(source.path))
      .flatMap((rule) =>
        rule.find(source).map(({ line, what }) => ({ path: source.path, line, rule: rule.name, what })),
      ),
  );
}

function report(faults: readonly Fault[]): void {
  assert.equal(faults.map(({ path, line, rule, what }) => `${path}:${line} ${rule}: ${what}`).join("\n"), "");
}

const sources = walk("").map((path) => readSource(path, readFileSync(join(root, path), "utf8")));

describe("tidy", () => {
  for (const rule of rules) test(rule.name, () => report(check(sources, [rule])));

  test("no import cycles", () => report(cyclesIn(sources.filter((one) => isProduct(one.path)))));

  test("what everybody reads is short: README under 100 lines, AGENTS under 120", () => {
    const limits: Readonly<Record<string, number>> = { "README.md": 100, "AGENTS.md": 120 };
    report(
      sources
        .filter((one) => one.lines >= (limits[one.path] ?? Number.POSITIVE_INFINITY))
        .map(({ path, lines }) => ({
          path,
          line: lines,
          rule: "what everybody reads is short",
          what: `${lines} lines`,
        })),
    );
  });
});

describe("tidy finds what is planted", () => {
  for (const rule of rules) {
    for (const [n, [path, text]] of rule.planted.entries()) {
      test(`${rule.name}, ${n + 1}: ${path}`, () => {
        assert.notDeepEqual(check([readSource(path, text)], [rule]), [], text.slice(0, 200));
      });
    }
    for (const [n, [path, text]] of (rule.innocent ?? []).entries()) {
      test(`${rule.name}, innocent ${n + 1}: ${path}`, () => {
        assert.deepEqual(check([readSource(path, text)], [rule]), []);
      });
    }
  }

  test("an import cycle, but not one of types alone", () => {
    const cycle = (first: string): readonly Fault[] =>
      cyclesIn([
        readSource("src/x/a.ts", `${first} { b } from "./b.ts";`),
        readSource("src/x/b.ts", 'import { c } from "./c.ts";'),
        readSource("src/x/c.ts", 'export { a } from "./a.ts";'),
      ]);
    assert.equal(cycle("import").length, 1);
    assert.match(cycle("import")[0]?.what ?? "", /a\.ts → src\/x\/b\.ts → src\/x\/c\.ts → src\/x\/a\.ts/);
    assert.deepEqual(cycle("import type"), []);
  });

  test("sources are found at all", () => {
    for (const folder of ["core", "ports", "testing"]) {
      assert.ok(
        sources.some((one) => below(one.path, folder)),
        folder,
      );
    }
    assert.ok(sources.flatMap(importsOf).length > 100);
    assert.ok(sources.flatMap((one) => (isProduct(one.path) ? functionsOf(one) : [])).length > 100);
  });
});
