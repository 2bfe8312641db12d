// Builds the chat page into a folder: index.html, page.js, style.css. Stamped by a hash of everything that goes in,
// so that a second run only compares. Two runs at the same time are harmless: each builds in a folder of its own
// and moves whole files into place, the stamp last.

import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const page = path.join(root, "page");
/** What is bundled, and what bundles; a change of any version is a change of the result. */
const libraries = ["@preact/signals", "@preact/signals-core", "marked", "preact"];
const made = ["index.html", "style.css", "page.js", "licenses.txt"];
const stampFile = "stamp.txt";

/** True when something was built, false when all was up to date. */
export async function buildPage(outDir: string): Promise<boolean> {
  const stamp = await stampOf();
  if (await isCurrent(outDir, stamp)) return false;
  await mkdir(outDir, { recursive: true });
  const work = path.join(path.dirname(outDir), `.page-${process.pid}-${randomUUID()}`);
  try {
    await mkdir(work);
    await bundle(path.join(work, "page.js"));
    for (const name of ["index.html", "style.css"])
      await writeFile(path.join(work, name), await readFile(path.join(page, name)));
    await writeFile(path.join(work, "licenses.txt"), await licenses());
    await writeFile(path.join(work, stampFile), stamp);
    // Without its stamp the folder counts as unfinished: a run that dies in between is simply repeated.
    await rm(path.join(outDir, stampFile), { force: true });
    for (const name of [...made, stampFile]) await rename(path.join(work, name), path.join(outDir, name));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return true;
}

async function bundle(file: string): Promise<void> {
  // Loaded only here: it costs more than everything else together, and most runs do not need it.
  const { build } = await import("rolldown");
  await build({
    input: path.join(page, "src", "main.ts"),
    platform: "browser",
    tsconfig: false,
    output: { file, format: "iife", minify: true, sourcemap: false },
  });
}

async function stampOf(): Promise<string> {
  const hash = createHash("sha256");
  const sources = await readdir(path.join(page, "src"), { recursive: true });
  const files = [
    import.meta.filename,
    path.join(page, "index.html"),
    path.join(page, "style.css"),
    ...sources
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .toSorted()
      .map((name) => path.join(page, "src", name)),
  ];
  for (const file of files)
    hash
      .update(path.relative(root, file))
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  for (const [name, version] of await versions()) hash.update(`${name}@${version}\0`);
  return `${hash.digest("hex")}\n`;
}

async function versions(): Promise<readonly (readonly [string, string])[]> {
  const lock = JSON.parse(await readFile(path.join(root, "package-lock.json"), "utf8")) as {
    readonly packages?: { readonly [folder: string]: { readonly version?: string } };
  };
  return ["rolldown", ...libraries].map((name) => [name, lock.packages?.[`node_modules/${name}`]?.version ?? "absent"]);
}

async function isCurrent(outDir: string, stamp: string): Promise<boolean> {
  const present = await namesIn(outDir);
  if (![...made, stampFile].every((name) => present.includes(name))) return false;
  return (await readFile(path.join(outDir, stampFile), "utf8")) === stamp;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** The bundle carries other people's work, so their terms go with it. */
async function licenses(): Promise<string> {
  const texts = libraries.map(async (name) => {
    const folder = path.join(root, "node_modules", name);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? "See the package of that name." : await readFile(path.join(folder, file), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  return `The page contains the following libraries.\n\n${(await Promise.all(texts)).join("\n---\n\n")}`;
}

if (import.meta.main) await buildPage(path.join(root, "dist", "page"));
