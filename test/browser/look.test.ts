// How it looks and fits: phone width without sideways scroll, dark and light, very long messages. Writes screenshots.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { answer, enter, openBrowser, say, shoot, startGateway, until } from "./stage.ts";

const sizes = [
  { name: "desktop", width: 1280, height: 800 },
  { name: "phone", width: 390, height: 844 },
  { name: "small-phone", width: 360, height: 640 },
] as const;

const wide = [
  "A very long word: " + "wide".repeat(80),
  "```\n" + "a line of code that goes on ".repeat(12) + "\n```",
  "| " + "column | ".repeat(12) + "\n|" + "---|".repeat(12) + "\n| " + "value | ".repeat(12),
  "مرحبا بالعالم، هذا نص من اليمين إلى اليسار. 👩‍👩‍👧‍👦",
].join("\n\n");

describe("look", () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser.close());

  it("fits every width, in dark and in light", async (t) => {
    const gateway = await startGateway(t);
    const { page, faults } = await enter(t, browser, gateway);
    await page.getByText("Every turn gets its answer.").waitFor();
    await everyLook(page, "empty");
    await say(page, wide);
    await answer(page, "A very long word").waitFor();
    await say(page, "show me markdown");
    await answer(page, "A heading").waitFor();
    await say(page, "ask me");
    await page.getByRole("button", { name: "water", exact: true }).waitFor();
    await everyLook(page, "chat");
    assert.deepEqual(faults, []);
  });

  it("follows the system's theme, or the one that was chosen, also after a reload", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway, { colorScheme: "light" });
    const ground = () => page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.getByRole("button", { name: "Light" }).click();
    assert.equal(await ground(), light);
    await page.reload();
    await page.locator("#words").waitFor();
    assert.equal(await ground(), light);
    await page.getByRole("button", { name: "As the system" }).click();
    assert.equal(await ground(), dark);
  });

  it("has its conversations in a drawer on a phone", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway, { viewport: { width: 390, height: 844 }, hasTouch: true });
    await say(page, "about plums");
    await answer(page, "You said: about plums").waitFor();
    const drawer = page.locator(".sidebar");
    assert.equal(await drawer.isVisible(), false);
    await page.getByRole("button", { name: "Conversations" }).click();
    await drawer.getByText("about plums").waitFor();
    await shoot(page, "phone-drawer");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Conversations" }).click();
    await drawer.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("Every turn gets its answer.").waitFor();
    await drawer.waitFor({ state: "hidden" });
  });

  it("stays usable with a message of a megabyte", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await say(page, "long ".repeat(200_000));
    const all = page.getByRole("button", { name: /^Show all/ });
    await until(
      () => all.count(),
      (count) => count >= 2,
      "message and answer are folded",
    );
    await all.last().click();
    await page.getByRole("button", { name: "Show less" }).waitFor();
    const length = await page
      .locator("article.assistant .body")
      .first()
      .evaluate((one) => one.textContent?.length ?? 0);
    assert.ok(length >= 1_000_000 || (await page.locator("article.assistant").count()) > 1);
    await say(page, "still there?");
    await answer(page, "You said: still there?").waitFor();
  });

  it("gives back what the gateway refuses, with its reason", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await say(page, "x".repeat(2_100_000));
    const alert = page.getByRole("alert");
    await alert.waitFor();
    assert.match(await alert.innerText(), /Not sent\. .*at most 2,000,000 characters/);
    await page.getByRole("group", { name: "A long message of 2.1 million characters, not sent yet" }).waitFor();
    await shoot(page, "refused");
    await page.getByRole("button", { name: "Remove" }).click();
    await say(page, "shorter");
    await answer(page, "You said: shorter").waitFor();
    assert.equal(await alert.count(), 0);
  });

  it("takes a pasted book without laying it out, and keeps it over a reload", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await enter(t, browser, gateway);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate("navigator.clipboard.writeText('a line of a book\\n'.repeat(40_000))");
    await page.locator("#words").fill("Read this: ");
    await page.keyboard.press("ControlOrMeta+v");
    const held = page.getByRole("group", { name: "A long message of 680 thousand characters, not sent yet" });
    await held.getByText("Read this: a line of a book").waitFor();
    await shoot(page, "pasted");
    await page.reload();
    await held.waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await answer(page, "You said: Read this: a line of a book").waitFor();
    assert.equal(await page.locator("#words").inputValue(), "");
  });
});

async function everyLook(page: Page, name: string): Promise<void> {
  for (const { name: size, width, height } of sizes) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `${name}-${size}-${colorScheme}`);
    }
    assert.equal(await page.evaluate(measure), 0, `${name} at ${width} pixels`);
  }
}

/** By how much anything that does not scroll by itself is wider than the window; runs in the page. */
const measure = `(() => {
  const rights = [...document.querySelectorAll("body *")]
    .filter((one) => one.closest("pre, .table, .sidebar, .sr") === null)
    .map((one) => one.getBoundingClientRect().right);
  return Math.max(0, Math.ceil(Math.max(document.documentElement.scrollWidth, ...rights) - window.innerWidth));
})()`;
