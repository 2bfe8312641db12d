// What must survive: unsent text over a reload, unconfirmed messages over a reload and a kill -9, an answer that is
// being written over a kill -9. Each arrives once, and the page says that it was away and is back.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import {
  answer,
  chatOf,
  enter,
  type Gateway,
  mine,
  openBrowser,
  preview,
  say,
  shoot,
  startGateway,
  status,
  until,
} from "./stage.ts";

describe("survival", () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser.close());

  it("unsent text survives a reload", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await page.locator("#words").fill("a thought\nof two lines");
    await page.reload();
    await until(
      () => page.locator("#words").inputValue(),
      (text) => text === "a thought\nof two lines",
      "it is back",
    );
    assert.equal(await page.locator("article").count(), 0);
  });

  it("unconfirmed messages survive a reload and keep their order", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await enter(t, browser, gateway);
    await context.route("**/messages", (route) => route.abort());
    for (const text of ["first", "second", "third"]) await say(page, text);
    assert.deepEqual(await page.locator("article.unsent.waiting .bubble").allInnerTexts(), [
      "first",
      "second",
      "third",
    ]);
    await page.reload();
    await until(
      () => page.locator("article.unsent.waiting").count(),
      (count) => count === 3,
      "all three still wait",
    );
    await context.unroute("**/messages");
    for (const text of ["first", "second", "third"]) await answer(page, `You said: ${text}`).waitFor();
    await arrivedOnce(page, gateway, ["first", "second", "third"]);
  });

  it("a message whose confirmation was lost is stored once and shown once", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await enter(t, browser, gateway);
    let lost = 0;
    await context.route("**/messages", async (route) => {
      if (lost++ > 0) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await say(page, "did you hear me");
    await answer(page, "You said: did you hear me").waitFor();
    await arrivedOnce(page, gateway, ["did you hear me"]);
  });

  it("a message written while the gateway is dead arrives once when it lives again, and the page says so", async (t) => {
    const gateway = await startGateway(t);
    const { page, faults } = await enter(t, browser, gateway);
    await say(page, "before");
    await answer(page, "You said: before").waitFor();
    await gateway.kill();
    await status(page).filter({ hasText: "Reconnecting…" }).waitFor();
    await say(page, "while you were away");
    await say(page, "and another");
    await page.locator("#words").fill("not sent yet");
    await page.getByText("Waiting for the gateway. Kept in this browser.").first().waitFor();
    await shoot(page, "away");
    const back = status(page).filter({ hasText: "Back. Nothing was lost." }).waitFor();
    await gateway.restart();
    await back;
    await page.getByText("The gateway restarted. Nothing was lost.").waitFor();
    await answer(page, "You said: and another").waitFor();
    await shoot(page, "back");
    await arrivedOnce(page, gateway, ["before", "while you were away", "and another"]);
    assert.equal(await page.locator("#words").inputValue(), "not sent yet");
    assert.equal(await page.locator(".divider.restart").count(), 1);
    await until(
      () => status(page).innerText(),
      (text) => text.trim() === "",
      "the good news is quiet after a while",
    );
    assert.deepEqual(faults, []);
  });

  it("a count goes on after kill -9, and its answer arrives once", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await page.getByRole("button", { name: "count to 30 slowly" }).click();
    await preview(page).filter({ hasText: "1, 2, 3, 4, 5" }).waitFor();
    await gateway.kill();
    await page.getByText("Paused while the gateway is away.").waitFor();
    await shoot(page, "killed");
    await gateway.restart();
    await answer(page, "Counted to 30. I was interrupted once").waitFor();
    await shoot(page, "counted");
    assert.equal(await preview(page).count(), 0);
    const numbers = Array.from({ length: 30 }, (_, i) => i + 1).join(", ");
    const answers = (await gateway.stored(chatOf(page))).filter((one) => one.role === "assistant");
    assert.equal(answers.length, 1);
    assert.equal(answers[0]?.text.startsWith(numbers), true);
    assert.equal(await answer(page, "Counted to 30").count(), 1);
    await page.reload();
    await answer(page, "Counted to 30").waitFor();
    assert.equal(await page.locator("article").count(), 2);
  });

  it("a planned stop leaves the half answer on the page, and the next start goes on with it", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await page.getByRole("button", { name: "count to 30 slowly" }).click();
    await preview(page).filter({ hasText: "1, 2, 3, 4, 5" }).waitFor();
    await gateway.stop();
    await page.getByText("Paused while the gateway is away.").waitFor();
    assert.match(await preview(page).innerText(), /^1, 2, 3, 4, 5/);
    await shoot(page, "stopped");
    // From here on, the words never get fewer until the answer is there.
    await page.evaluate(watchPreview);
    await gateway.restart();
    await answer(page, "Counted to 30. I was interrupted once").waitFor();
    assert.deepEqual(await page.evaluate("shrunk"), []);
    assert.equal(await preview(page).count(), 0);
    assert.equal(await page.locator("article").count(), 2);
  });

  it("a question waits through kill -9, and its answer may be given while the gateway is dead", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await say(page, "ask me");
    const tea = page.getByRole("button", { name: "tea", exact: true });
    await tea.waitFor();
    await gateway.kill();
    await status(page).filter({ hasText: "Reconnecting…" }).waitFor();
    await tea.click();
    await until(
      () => tea.isDisabled(),
      (disabled) => disabled,
      "an answer is given once",
    );
    await gateway.restart();
    await answer(page, "You chose tea").waitFor();
    const said = (await gateway.stored(chatOf(page))).filter((one) => one.role === "user").map((one) => one.text);
    assert.deepEqual(said, ["ask me", "tea"]);
  });

  it("five kills in a row lose and double nothing", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    const texts = Array.from({ length: 5 }, (_, i) => `round ${i + 1}`);
    for (const text of texts) {
      await say(page, text);
      await gateway.restart();
    }
    for (const text of texts) await answer(page, `You said: ${text}`).waitFor();
    await arrivedOnce(page, gateway, texts);
  });
});

/** For the page itself: writes down every time at which the preview shows less than before and no answer is there. */
const watchPreview = `
  globalThis.shrunk = [];
  let most = document.querySelector("article.draft .body").textContent.length;
  new MutationObserver(() => {
    if (document.querySelector("article.assistant:not(.draft)") !== null) return;
    const text = document.querySelector("article.draft .body")?.textContent ?? "";
    if (text.length < most) shrunk.push(text);
    most = Math.max(most, text.length);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
`;

/** In the store and on the page: every message once, in order, and every answer once. */
async function arrivedOnce(page: Page, gateway: Gateway, texts: readonly string[]): Promise<void> {
  const stored = await gateway.stored(chatOf(page));
  const of = (role: string) => stored.filter((one) => one.role === role).map((one) => one.text);
  assert.deepEqual(of("user"), texts);
  assert.deepEqual(
    of("assistant"),
    texts.map((text) => `You said: ${text}`),
  );
  await until(
    () => page.locator("article.unsent").count(),
    (count) => count === 0,
    "nothing waits any more",
  );
  for (const text of texts) {
    assert.equal(await mine(page, text).count(), 1, text);
    assert.equal(await answer(page, new RegExp(`^You said: ${text}$`)).count(), 1, text);
  }
}
