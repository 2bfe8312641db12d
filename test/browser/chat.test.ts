// A conversation in a real browser with the real gateway: words, answers, questions, several conversations, hostile text.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { answer, chatOf, enter, mine, openBrowser, preview, say, startGateway, status, until } from "./stage.ts";

describe("chat", () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser.close());

  it("answers, streams a preview, and ends it with one whole answer", async (t) => {
    const gateway = await startGateway(t);
    const { page, faults } = await enter(t, browser, gateway);
    await say(page, "good morning, gateway");
    await mine(page, "good morning, gateway").waitFor();
    await answer(page, "You said: good morning, gateway").waitFor();
    assert.equal(await page.locator("#words").inputValue(), "");

    await say(page, "count to 6 slowly");
    await preview(page).filter({ hasText: "1, 2" }).waitFor();
    await answer(page, "Counted to 6").waitFor();
    assert.equal(await preview(page).count(), 0);
    assert.equal(await answer(page, "Counted to 6").count(), 1);
    assert.deepEqual(faults, []);
  });

  it("draws markdown, and copies code", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await enter(t, browser, gateway);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await say(page, "show me markdown");
    const block = answer(page, "A heading").locator("figure.code");
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), await block.locator("pre").innerText());
    const link = answer(page, "A heading").locator("a");
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
    assert.equal(await answer(page, "A heading").locator("table").count(), 1);
  });

  it("Shift and Enter make a line, Enter sends", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await page.locator("#words").pressSequentially("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    assert.equal(await page.locator("#words").inputValue(), "one\ntwo");
    await page.keyboard.press("Enter");
    await until(
      () => gateway.stored(chatOf(page)),
      (all) => all.some((one) => one.role === "user" && one.text === "one\ntwo"),
      "the message of two lines is stored",
    );
    await page.keyboard.press("Enter");
    await until(
      () => page.locator("article.unsent").count(),
      (count) => count === 0,
      "nothing waits to be sent",
    );
    const said = (await gateway.stored(chatOf(page))).filter((one) => one.role === "user");
    assert.equal(said.length, 1, "nothing is sent when nothing was written");
  });

  it("asks with buttons, which take one answer", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await page.getByRole("button", { name: "ask me" }).click();
    await page.getByRole("button", { name: "coffee", exact: true }).click();
    await answer(page, "You chose coffee").waitFor();
    assert.equal(await page.getByRole("button", { name: "coffee", exact: true }).getAttribute("aria-pressed"), "true");
    for (const choice of ["tea", "coffee", "water"])
      assert.equal(await page.getByRole("button", { name: choice, exact: true }).isDisabled(), true, choice);
    const said = (await gateway.stored(chatOf(page))).filter((one) => one.role === "user").map((one) => one.text);
    assert.deepEqual(said, ["ask me", "coffee"]);
  });

  it("keeps several conversations apart, newest first, each with its address", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await say(page, "about apples");
    await answer(page, "You said: about apples").waitFor();
    const apples = chatOf(page);
    await page.getByRole("button", { name: "New conversation" }).first().click();
    await page.getByText("Every turn gets its answer.").waitFor();
    await say(page, "about pears");
    await answer(page, "You said: about pears").waitFor();
    assert.notEqual(chatOf(page), apples);
    assert.equal(await answer(page, "apples").count(), 0);

    const names = page.locator(".sidebar .name");
    const titles = () => names.allInnerTexts();
    await until(titles, (all) => all.join() === "about pears,about apples", "the newest conversation is first");
    await page.locator("#words").fill("unsent about pears");
    await names.filter({ hasText: "about apples" }).click();
    await answer(page, "You said: about apples").waitFor();
    assert.equal(chatOf(page), apples);
    assert.equal(await answer(page, "pears").count(), 0);
    assert.equal(await page.locator("#words").inputValue(), "");
    await page.reload();
    await answer(page, "You said: about apples").waitFor();
    await page.goBack();
    await answer(page, "You said: about pears").waitFor();
    await until(
      () => page.locator("#words").inputValue(),
      (text) => text === "unsent about pears",
      "unsent text waits",
    );
  });

  it("shows hostile text as text", async (t) => {
    const gateway = await startGateway(t);
    const { page, faults } = await enter(t, browser, gateway);
    const hostile = [
      "<script>alert('script')</script>",
      "<img src=x onerror=alert('img')>",
      "[click](javascript:alert('link'))",
      "[data](data:text/html,<script>alert('data')</script>)",
      "<svg onload=alert('svg')></svg> <iframe srcdoc=\"<script>parent.alert('frame')</script>\"></iframe>",
      "![pixel](https://tracker.invalid/pixel.png)",
      "<style>body{display:none}</style>",
    ].join("\n\n");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await say(page, hostile);
    const reply = answer(page, "You said:").first();
    await reply.waitFor();
    for (const article of [page.locator("article.user").first(), reply]) {
      const inside = article.locator("script, img, svg:not(.icon), iframe, style, [onerror], [onload]");
      assert.equal(await inside.count(), 0);
      assert.match(await article.innerText(), /<img src=x onerror=alert\('img'\)>/);
    }
    const links = await page.locator("article a").all();
    const hrefs = await Promise.all(links.map((one) => one.getAttribute("href")));
    assert.deepEqual(hrefs, ["https://tracker.invalid/pixel.png"]);
    assert.equal(
      asked.every((url) => url.startsWith(gateway.origin)),
      true,
      asked.join(),
    );
    assert.equal(await page.locator("body").isVisible(), true);
    assert.deepEqual(faults, []);
  });

  it("two tabs show the same", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await enter(t, browser, gateway);
    await say(page, "from the first tab");
    await answer(page, "from the first tab").waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await answer(other, "from the first tab").waitFor();
    await say(other, "from the second tab");
    for (const one of [page, other]) {
      await answer(one, "from the second tab").waitFor();
      await mine(one, "from the second tab").waitFor();
      await until(
        () => one.locator("article.unsent").count(),
        (count) => count === 0,
        "nothing waits any more",
      );
      assert.equal(await one.locator("article").count(), 4);
    }
  });

  it("loads what was said earlier, and keeps the reader's place", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    for (let n = 1; n <= 40; n++) {
      await say(page, `line number ${n}`);
      await answer(page, new RegExp(`line number ${n}$`)).waitFor();
    }
    await page.reload();
    await answer(page, /line number 40$/).waitFor();
    assert.equal(await page.locator("article").count(), 50);
    const top = page.locator("article").first();
    const key = await top.getAttribute("data-n");
    await page.getByRole("button", { name: "Earlier messages" }).waitFor();
    await page.evaluate("document.querySelector('.scroller').scrollTop = 0");
    await mine(page, "line number 1").waitFor({ state: "attached" });
    assert.equal(await page.locator("article").count(), 80);
    assert.equal(await page.getByRole("button", { name: "Earlier messages" }).count(), 0);
    const seen = await page.locator(`article[data-n="${key}"]`).boundingBox();
    assert.ok(seen !== null && seen.y > -400 && seen.y < 800, `the message that was at the top is near: ${seen?.y}`);

    await page.getByRole("button", { name: "Latest" }).click();
    await until(
      () => page.locator(".jump").count(),
      (count) => count === 0,
      "the end is reached",
    );
  });

  it("tells a stranger how to get in, and lets them in later without losing what they wrote", async (t) => {
    const gateway = await startGateway(t);
    const context = await browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(gateway.origin);
    await page.getByText("Open this page with a link.").waitFor();
    await page.getByText("everturn link").first().waitFor();
    await page.goto(await gateway.link());
    await page.locator("#words").waitFor();
    assert.equal(new URL(page.url()).search, "");
    assert.doesNotMatch(page.url(), /link=/, "the secret does not stay in the address");
    await context.route("**/messages", (route) => route.abort());
    await say(page, "half a thought");
    const headers = { authorization: `Bearer ${gateway.token}` };
    assert.equal((await fetch(`${gateway.origin}/api/devices/revoke`, { method: "POST", headers })).status, 200);
    await context.unroute("**/messages");
    await page.getByText("This browser was signed out.").waitFor();
    await page.goto(await gateway.link());
    await answer(page, "You said: half a thought").waitFor();
    assert.equal(await status(page).getAttribute("class"), "status live");
  });
});
