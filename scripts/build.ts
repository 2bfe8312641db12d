// Builds what is published into dist/: the program and the library as JavaScript that needs nothing but Node, their
// types, the page, and the terms of the libraries inside. Everything is made in a folder of its own and moved into
// place file by file, entries last, because a gateway run from the sources may be serving dist/page meanwhile.

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import type { OutputChunk, Plugin } from "rolldown";
import { buildPage } from "./build-page.ts";

const root = path.resolve(import.meta.dirname, "..");

/**
 * Writer and seeker are entries of threads, file-worker of a process; they are looked for beside the chunks that start
 * them, so all files lie in one folder.
 * The names of entries are known from outside; those of chunks carry a hash, so that a process which outlived an
 * upgrade fails to find its old chunk instead of loading one that does not belong to it.
 */
const entries = {
  main: "src/main.ts",
  writer: "src/stores/sqlite/writer.ts",
  seeker: "src/tools/files/worker/search/seeker.ts",
  "file-worker": "src/tools/files/worker/main.ts",
  "sandbox-runner": "src/sandbox/runner/main.ts",
  index: "src/index.ts",
  testing: "src/testing/index.ts",
} as const;

/** Folders of dist/ that a build of the program leaves alone. */
const page = "page";
const workPrefix = ".build-";
/** A build that died leaves its folder; after this long nobody is using it. */
const abandonedMs = 60 * 60_000;

/** The program and the library as JavaScript; gives the chunks with what each of them contains. */
export async function buildProgram(outDir: string): Promise<readonly OutputChunk[]> {
  // Loaded only here: who only wants the names of this file must not pay for a bundler.
  const { build } = await import("rolldown");
  const { output } = await build({
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(root, file)])),
    platform: "node",
    tsconfig: false,
    plugins: [withoutExtras],
    resolve: {
      alias: {
        yaml: path.join(root, "node_modules", "yaml", "browser", "index.js"),
        // The same library on Node's own fetch, without the HTTP client that it brings along.
        "@discordjs/rest": path.join(root, "node_modules", "@discordjs", "rest", "dist", "web.mjs"),
      },
    },
    output: {
      dir: outDir,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      sourcemap: false,
      comments: false,
      // Functions and classes keep their names: a stack trace in a bug report must be readable without a map.
      minify: {
        compress: { keepNames: { function: true, class: true } },
        mangle: { toplevel: false, keepNames: true },
        codegen: true,
      },
    },
  });
  const chunks = output.filter((one) => one.type === "chunk");
  refuseDependencies(chunks);
  await writeFile(path.join(outDir, "licenses.txt"), await licenses(chunks));
  return chunks;
}

/** Native helpers that a library asks for and does without; none of them is ours to install. */
const extras: readonly string[] = ["zlib-sync"];
const nothing = "\0nothing";

const withoutExtras: Plugin = {
  name: "without-extras",
  resolveId: (id) => (extras.includes(id) ? nothing : null),
  load: (id) => (id === nothing ? "export default null;" : null),
};

/** The package installs no library, so an import that was left in the bundle would fail on the user's machine. */
function refuseDependencies(chunks: readonly OutputChunk[]): void {
  const own = new Set(chunks.map((chunk) => chunk.fileName));
  const foreign = chunks.flatMap((chunk) =>
    [...chunk.imports, ...chunk.dynamicImports]
      .filter((name) => !own.has(name) && !isBuiltin(name))
      .map((name) => `${name} (imported by ${chunk.fileName})`),
  );
  if (foreign.length > 0) throw new Error(`The bundle is not whole, it still imports: ${foreign.join(", ")}`);
}

/** The bundle carries other people's work, so their terms go with it. */
async function licenses(chunks: readonly OutputChunk[]): Promise<string> {
  const names = new Set(chunks.flatMap((chunk) => chunk.moduleIds).flatMap(packagesOf));
  const texts = [...names]
    .toSorted((a, b) => a.localeCompare(b))
    .map(async (name) => {
      const text = (await termsOf(name)) ?? (await termsOfSibling(name)) ?? (await termsNamed(name));
      if (text === null) throw new Error(`${name} is in the bundle, and no license of it is there to pass on`);
      return `${name}\n\n${text.trim()}\n`;
    });
  return `Everturn contains the following libraries.\n\n${(await Promise.all(texts)).join("\n---\n\n")}`;
}

async function termsOf(name: string): Promise<string | null> {
  const folder = path.join(root, "node_modules", name);
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  return file === undefined ? null : readFile(path.join(folder, file), "utf8");
}

/** Some packages of a family leave the text to the others: those of the same scope, source and terms. */
async function termsOfSibling(name: string): Promise<string | null> {
  const [scope = "", own] = name.split("/");
  if (own === undefined) return null;
  const wanted = await familyOf(name);
  for (const one of await readdir(path.join(root, "node_modules", scope))) {
    const sibling = `${scope}/${one}`;
    if (sibling !== name && (await familyOf(sibling)) === wanted) {
      const text = await termsOf(sibling);
      if (text !== null) return text;
    }
  }
  return null;
}

/** Some name the MIT terms and leave the text out; it is the same everywhere but for whose work it is. */
async function termsNamed(name: string): Promise<string | null> {
  const manifest = await readFile(path.join(root, "node_modules", name, "package.json"), "utf8");
  const { license, author } = JSON.parse(manifest) as { license?: string; author?: { name?: string } | string };
  const owner = typeof author === "string" ? author : author?.name;
  const template = license === "MIT" && owner !== undefined ? await termsOf("valibot") : null;
  return template?.replace(/^Copyright .*$/m, `Copyright (c) ${owner}`) ?? null;
}

async function familyOf(name: string): Promise<string> {
  const manifest = await readFile(path.join(root, "node_modules", name, "package.json"), "utf8");
  const { license, repository } = JSON.parse(manifest) as { license?: string; repository?: { url?: string } | string };
  return JSON.stringify([license, typeof repository === "string" ? repository : repository?.url]);
}

/** The package that a module of the bundle comes from; none for our own. */
function packagesOf(module: string): readonly string[] {
  const [, inside] = module.split(`${path.sep}node_modules${path.sep}`);
  const [first, second] = inside?.split(path.sep) ?? [];
  if (first === undefined) return [];
  return [first.startsWith("@") ? `${first}/${second}` : first];
}

/** Declarations of what can be imported from the package; nothing else of the sources is reachable. */
async function buildTypes(outDir: string): Promise<void> {
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const given = ["-p", path.join(root, "tsconfig.build.json"), "--outDir", outDir];
  try {
    await promisify(execFile)(process.execPath, [tsc, ...given], { cwd: root });
  } catch (error) {
    const said = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    throw new Error(`The types could not be made.\n${said}`, { cause: error });
  }
}

/** Everything, into `dist`; what an earlier build left there and this one did not make is removed. */
export async function buildAll(dist: string): Promise<readonly OutputChunk[]> {
  await mkdir(dist, { recursive: true });
  const work = path.join(dist, `${workPrefix}${process.pid}-${randomUUID()}`);
  try {
    const [chunks] = await Promise.all([
      buildProgram(work),
      buildTypes(path.join(work, "types")),
      buildPage(path.join(dist, page)),
    ]);
    await moveInto(work, dist);
    return chunks;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Entries come last, so that whoever starts one in between finds all that it imports. */
async function moveInto(work: string, dist: string): Promise<void> {
  const isEntry = (name: string) => Object.keys(entries).includes(path.basename(name, ".js"));
  const made = (await readdir(work)).toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)));
  for (const name of made) {
    const target = path.join(dist, name);
    // A folder cannot be renamed over another one.
    if ((await stat(path.join(work, name))).isDirectory()) await rm(target, { recursive: true, force: true });
    await rename(path.join(work, name), target);
  }
  for (const name of await readdir(dist))
    if (!made.includes(name) && name !== page && (await isLeftOver(path.join(dist, name))))
      await rm(path.join(dist, name), { recursive: true, force: true });
}

/** Another build may be at work beside this one. */
async function isLeftOver(file: string): Promise<boolean> {
  if (!/^\.(?:build|page)-/.test(path.basename(file))) return true;
  return (await stat(file)).mtimeMs < Date.now() - abandonedMs;
}

function print(chunks: readonly OutputChunk[]): void {
  const sized = chunks.map((chunk) => ({ name: chunk.fileName, bytes: Buffer.byteLength(chunk.code) }));
  for (const { name, bytes } of sized.toSorted((a, b) => b.bytes - a.bytes))
    process.stdout.write(`${(bytes / 1000).toFixed(1).padStart(8)} kB  dist/${name}\n`);
}

if (import.meta.main) print(await buildAll(path.join(root, "dist")));
