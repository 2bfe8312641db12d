// The page with an agent that has a model, which is played by the test: pictures reach it, what it wants to do is shown
// before it is done, files come back, and what it cost stands below.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { openStage } from "../agent/stage.ts";
import type { Script } from "../fakes/models/index.ts";
import { run } from "../process/stage.ts";
import { answer, builtPage, enter, newLink, openBrowser, shoot, until } from "./stage.ts";

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8Dwn4GBgYGJAQoYGBgAFAYCAWnBRaQAAAAASUVORK5CYII=",
  "base64",
);
const usage = { input: 1_000, output: 50, cached: 400 };
const removal =
  "rm -rf build/ && find . -name '*.tmp' -delete && echo everything that was made by the last build is gone now";

/** Asks for something beyond its sandbox, writes a report, sends it, and is done. */
const script: Script = ({ seen }) => {
  const results = seen.messages.flatMap((one) => one.results).length;
  if (results === 0)
    return {
      text: "I remove the build.",
      calls: [{ name: "terminal", input: { command: removal, hosts: ["example.org"] } }],
      usage,
    };
  if (results === 1)
    return { calls: [{ name: "write_file", input: { path: "report.md", content: "# Removed\n" } }], usage };
  if (results === 2)
    return { calls: [{ name: "send_file", input: { path: "report.md", caption: "The report." } }], usage };
  // It thinks for a while after its file has arrived.
  return { text: "All done.", usage, everyMs: 2_000 };
};

describe("model", () => {
  let browser: Browser;
  before(async () => {
    await builtPage();
    browser = await openBrowser();
  });
  after(() => browser.close());

  it("sees the picture, asks before it removes, sends its file, and says what it used", async (t) => {
    const stage = await openStage(t, script, {
      agent: "  vision: true\n  prices: { openai/fake-model: { input: 2, output: 10, cached: 0.5 } }",
    });
    mkdirSync(join(stage.workspace, "build"), { recursive: true });
    writeFileSync(join(stage.workspace, "build", "made.txt"), "made");
    const life = await stage.start();
    const { page, faults } = await enter(t, browser, { link: () => newLink(life) });
    await page.getByRole("button", { name: "What can you do here?" }).waitFor();
    assert.equal(await page.getByText("offline agent").count(), 0);
    await shoot(page, "model-welcome");
    const picked = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach files" }).click();
    await (await picked).setFiles([{ name: "shot.png", mimeType: "image/png", buffer: picture }]);
    await page.locator(".chip.ready").waitFor();
    await page.locator("#words").fill("clean up what you see here");
    await page.locator("#words").press("Enter");

    const card = page.locator("section.approval");
    await card.getByRole("button", { name: "Approve", exact: true }).waitFor();
    assert.match(await card.innerText(), /rm -rf build/);
    await shoot(page, "model-approval");
    assert.ok(existsSync(join(stage.workspace, "build", "made.txt")), "nothing is done before it is allowed");
    assert.ok(
      stage.fake.requests.some(({ seen }) => seen.messages.some((one) => one.files.includes("image/png"))),
      "the model was shown the picture",
    );
    const stop = page.getByRole("button", { name: "Stop", exact: true });
    assert.equal(await stop.count(), 0, "what waits for its user cannot be stopped, only denied");
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await answer(page, "The report.").waitFor();
    await stop.waitFor();
    await answer(page, "All done.").waitFor();
    await until(
      () => stop.count(),
      (count) => count === 0,
      "it has ended",
    );
    await answer(page, "The report.").getByTitle("Download report.md").waitFor();
    assert.equal(existsSync(join(stage.workspace, "build")), false);
    // Four steps: 4 × (600 × 2 + 400 × 0.5 + 50 × 10) millionths of a dollar.
    await page.locator(".used", { hasText: "openai/fake-model · 4,200 tokens so far · $0.0076" }).waitFor();
    await shoot(page, "model-done");
    assert.deepEqual(faults, []);

    const used = await run(t, stage.home, ["usage"]);
    assert.match(used.out, /openai\/fake-model +4 +4,000 +1,600 +200 +\$0\.0076/);
    const { turns } = await until(
      () => life.client.get<{ turns: readonly { id: string; state: string }[] }>("/api/turns?limit=1"),
      (found) => found.turns[0]?.state === "done",
      "the turn is over",
    );
    const told = await run(t, stage.home, ["turns", "show", turns[0]?.id ?? ""]);
    assert.match(told.out, /used +4 steps: 4,000 in \(1,600 cached\), 200 out, \$0\.0076/);
    assert.match(told.out, /to send +part 1 to web\/local\/.*: The report\. \[report\.md\]/);
    const metrics = await fetch(`${life.url}/metrics`, { headers: { authorization: `Bearer ${life.token}` } });
    assert.match(await metrics.text(), /everturn_model_steps_today\{model="openai\/fake-model"\} 4/);
  });

  it("says that there is no sandbox while there is none", async (t) => {
    const stage = await openStage(t, script);
    const life = await stage.start({ env: { EVERTURN_AGENT__TOOLS__TERMINAL__SANDBOX: "off" } });
    const { page, faults } = await enter(t, browser, { link: () => newLink(life) });
    const notice = page.getByRole("note");
    await until(
      () => notice.count(),
      (count) => count === 1,
      "the notice is shown",
    );
    assert.match(await notice.innerText(), /^No tool runs, because the sandbox is missing\. \S/);
    for (const [size, width, height] of [
      ["desktop", 1280, 800],
      ["phone", 390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await shoot(page, `no-sandbox-${size}-${colorScheme}`);
      }
    }
    const status = await run(t, stage.home, ["gateway", "status"]);
    assert.match(status.out, /sandbox +missing: no tool runs\. \S/);
    assert.ok(!status.out.includes("#link="), "a pipe is no terminal");
    assert.deepEqual(faults, []);
  });
});
