// The page as it is built: complete, once, safe for two builders at the same time, and fit for its content policy.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { buildPage } from "../../scripts/build-page.ts";

const files = ["index.html", "licenses.txt", "page.js", "stamp.txt", "style.css"];

test("two builders at once leave one whole page; a third has nothing to do; a damaged one is built again", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "everturn-page-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const out = path.join(folder, "page");
  await Promise.all([buildPage(out), buildPage(out)]);
  assert.deepEqual((await readdir(out)).toSorted(), files);
  assert.deepEqual(await readdir(folder), ["page"], "nothing is left over");
  assert.equal(await buildPage(out), false);
  await rm(path.join(out, "page.js"));
  assert.equal(await buildPage(out), true);
  await writeFile(path.join(out, "stamp.txt"), "older");
  assert.equal(await buildPage(out), true);

  const html = await readFile(path.join(out, "index.html"), "utf8");
  assert.doesNotMatch(
    html,
    /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i,
    "nothing inline: the policy forbids it",
  );
  const script = await readFile(path.join(out, "page.js"), "utf8");
  assert.ok(script.length < 150_000, `the page is ${script.length} bytes of script`);
  assert.doesNotMatch(script, /\bimport\b\s*["'(]|\beval\(/);
  const style = await readFile(path.join(out, "style.css"), "utf8");
  assert.doesNotMatch(html + style, /https?:\/\/(?!www\.w3\.org\/2000\/svg)|@import|url\(/, "nothing from elsewhere");
});

test("no source of the page writes HTML", async () => {
  const sources = (await readdir(import.meta.dirname, { recursive: true })).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  assert.ok(sources.length > 20);
  for (const name of sources) {
    const text = await readFile(path.join(import.meta.dirname, name), "utf8");
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function/, name);
  }
});
