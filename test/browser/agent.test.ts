// What an agent needs of people, in a real browser: approvals, files both ways, and a way to stop it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type Gateway, answer, chatOf, enter, openBrowser, preview, say, shoot, startGateway, until } from "./stage.ts";

/** A picture of 2 by 2 points. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8Dwn4GBgYGJAQoYGBgAFAYCAWnBRaQAAAAASUVORK5CYII=",
  "base64",
);

async function ask<T>(gateway: Gateway, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${gateway.origin}/api${path}`, {
    ...init,
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  assert.equal(response.status, 200, path);
  return (await response.json()) as T;
}

const card = (page: Page) => page.locator("section.approval").last();
const button = (page: Page, name: string) => card(page).getByRole("button", { name, exact: true });
const standing = (page: Page, words: string) => card(page).locator(".standing", { hasText: words }).waitFor();

describe("agent", () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser.close());

  it("asks for approval with what would be done; a press decides, and the card says what became of it", async (t) => {
    const gateway = await startGateway(t);
    const { page, faults } = await enter(t, browser, gateway);
    await say(page, "ask before you act");
    await button(page, "Approve").waitFor();
    assert.match(await card(page).locator("pre").innerText(), /post a letter that says: I asked before I acted/);
    assert.match(await card(page).innerText(), /a letter cannot be called back/);
    await shoot(page, "approval-open");
    const before = await card(page).boundingBox();
    await button(page, "Approve").click();
    await answer(page, "Done: the letter is posted.").waitFor();
    await standing(page, "Approved, this once.");
    assert.equal(await button(page, "Approve").getAttribute("aria-pressed"), "true");
    for (const name of ["Approve", "Always allow", "Deny"]) assert.ok(await button(page, name).isDisabled(), name);
    assert.equal((await card(page).boundingBox())?.height, before?.height, "nothing moves when it is answered");
    await page.locator("article.given", { hasText: "Approved" }).waitFor();
    assert.equal(await page.locator("article.user .bubble", { hasText: "approve" }).count(), 0, "nobody typed that");
    await shoot(page, "approval-approved");

    await say(page, "ask before you act");
    await until(
      () => page.locator("section.approval.open").count(),
      (count) => count === 1,
      "it is asked again",
    );
    await button(page, "Deny").click();
    await answer(page, "I did not do it").waitFor();
    await standing(page, "Denied.");

    await page.reload();
    await standing(page, "Denied.");
    await page.locator(".standing", { hasText: "Approved, this once." }).waitFor();
    assert.deepEqual(faults, []);
  });

  it("shows an approval that was answered elsewhere, and one that waited through a kill", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await say(page, "ask before you act");
    await button(page, "Approve").waitFor();
    await gateway.kill();
    await gateway.restart();
    const { questions } = await until(
      () => ask<{ questions: { id: string; kind: string }[] }>(gateway, "/questions"),
      (found) => found.questions.length === 1,
      "it still waits",
    );
    assert.equal(questions[0]?.kind, "approval");
    await ask(gateway, `/questions/${questions[0]?.id}/answer`, { choice: "always" });
    await standing(page, "Allowed, from now on too.");
    await answer(page, "Done: the letter is posted.").waitFor();
    await say(page, "ask before you act");
    await until(
      () => answer(page, "Done: the letter is posted.").count(),
      (count) => count === 2,
      "it is not asked again",
    );
    assert.equal(await page.locator("section.approval").count(), 1);
  });

  it("takes files by button, paste and drop, shows them, and gives back what is sent", async (t) => {
    const gateway = await startGateway(t);
    const { page, faults } = await enter(t, browser, gateway);
    const picked = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach files" }).click();
    await (await picked).setFiles([
      { name: "notes ü.txt", mimeType: "text/plain", buffer: Buffer.from("some notes") },
      { name: "evil.html", mimeType: "text/html", buffer: Buffer.from("<script>alert(1)</script>") },
    ]);
    await drop(page, "paste", "shot.png", picture);
    await drop(page, "drop", "dropped.bin", Buffer.from("dropped"));
    const chips = page.locator(".chip.ready");
    await until(
      () => chips.count(),
      (count) => count === 4,
      "all are uploaded",
    );
    await page.getByRole("button", { name: "Remove dropped.bin" }).click();
    await shoot(page, "files-attached");
    await page.reload();
    await until(
      () => chips.count(),
      (count) => count === 3,
      "what was attached waits through a reload",
    );
    await page.locator("#words").fill("send it back");
    await page.locator("#words").press("Enter");
    await answer(page, "That is all I was given.").waitFor();
    assert.equal(await page.locator(".chip").count(), 0);
    const back = answer(page, "Here you are.");
    const image = back.locator(".picture img");
    await until(
      () => image.evaluate((one) => (one as { naturalWidth?: number }).naturalWidth ?? 0),
      (width) => width === 2,
      "the picture is drawn",
    );
    await shoot(page, "files-sent");
    for (const [name, content] of [
      ["notes ü.txt", "some notes"],
      ["evil.html", "<script>alert(1)</script>"],
    ] as const) {
      const download = page.waitForEvent("download");
      await back.getByTitle(`Download ${name}`).click();
      const file = await download;
      assert.equal(file.suggestedFilename(), name);
      assert.equal(await readFile(await file.path(), "utf8"), content);
    }
    const stored = await gateway.stored(chatOf(page));
    assert.equal(stored.filter((one) => one.role === "user").length, 1);
    assert.deepEqual(faults, []);
  });

  it("says why a file cannot be taken, and the rest goes on", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await gateway.kill();
    await drop(page, "drop", "late.txt", Buffer.from("late"));
    await page.locator(".chip.failed").getByRole("alert").filter({ hasText: "did not answer" }).waitFor();
    await gateway.restart();
    await page.getByRole("button", { name: "Try late.txt again" }).click();
    await page.locator(".chip.ready").waitFor();
    await page.locator("#words").press("Enter");
    await answer(page, /You sent me:\s*late\.txt, 4 bytes/).waitFor();
  });

  it("shows which tools run while they run", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await page.getByText("Every turn gets its answer.").waitFor();
    await shoot(page, "welcome");
    await say(page, "run a slow tool");
    await page.locator(".draft .tools li", { hasText: "stamp" }).waitFor();
    await shoot(page, "tools-running");
    await answer(page, "I ran one tool of each kind").waitFor();
    assert.equal(await page.locator(".tools").count(), 0);

    const done = answer(page, "I ran one tool of each kind");
    const steps = done.getByRole("button", { name: "Steps" });
    await steps.focus();
    await page.keyboard.press("Enter");
    const list = done.getByRole("region", { name: "What was done" });
    await list.locator("li", { hasText: /^✓stamp.* s$/ }).waitFor();
    const button = done.getByRole("button", { name: /^\d calls$/ });
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    assert.equal(await list.getAttribute("id"), await button.getAttribute("aria-controls"));
    await shoot(page, "steps-open");
    await page.keyboard.press("Enter");
    assert.equal(await list.count(), 0);
    assert.equal(await button.getAttribute("aria-expanded"), "false");
  });

  it("tells of a question that it was answered in other words", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    await say(page, "ask me");
    await page.getByRole("button", { name: "coffee" }).waitFor();
    await say(page, "a glass of milk");
    await page.locator(".choices .standing", { hasText: "Answered" }).waitFor();
    await shoot(page, "question-own-words");
    await say(page, "ask me");
    const coffee = page.getByRole("button", { name: "coffee" }).last();
    await until(
      () => coffee.isEnabled(),
      (is) => is,
      "it is asked again",
    );
    await coffee.click();
    await answer(page, "You chose coffee").waitFor();
    await until(
      () => coffee.getAttribute("aria-pressed"),
      (pressed) => pressed === "true",
      "what was chosen shows",
    );
    assert.equal(await page.locator(".choices .standing", { hasText: "Answered" }).count(), 1);
  });

  it("stops what runs, by a button that is there only then", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway);
    const stop = page.getByRole("button", { name: "Stop", exact: true });
    assert.equal(await stop.count(), 0);
    await say(page, "count to 500 slowly");
    await preview(page).filter({ hasText: "1, 2" }).waitFor();
    await shoot(page, "working");
    await stop.click();
    await until(
      () => preview(page).count(),
      (count) => count === 0,
      "it has stopped",
    );
    await until(
      () => stop.count(),
      (count) => count === 0,
      "and the button is gone",
    );
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    assert.equal(await answer(page, "Counted to").count(), 0);
    await answer(page, /1, 2.*\(Stopped\.\)/s).waitFor();
    await shoot(page, "stopped-words");
  });

  it("is usable by keyboard on a narrow dark screen", async (t) => {
    const gateway = await startGateway(t);
    const { page } = await enter(t, browser, gateway, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
    });
    await drop(page, "drop", "a very long name of a file that does not fit anywhere at all.png", picture);
    await page.locator(".chip.ready").waitFor();
    await say(page, "ask before you act");
    await button(page, "Approve").waitFor();
    await shoot(page, "narrow-dark-approval");
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    assert.ok(Number(wide) <= 360, `the page is ${String(wide)} wide`);
    await button(page, "Approve").focus();
    await page.keyboard.press("Enter");
    await standing(page, "Approved, this once.");
    const done = answer(page, "Done: the letter is posted.");
    await done.getByRole("button", { name: "Steps" }).focus();
    await page.keyboard.press("Space");
    await done.locator(".tools li", { hasText: "post_letter" }).waitFor();
    await shoot(page, "narrow-dark-approved");
    assert.ok(Number(await page.evaluate("document.documentElement.scrollWidth")) <= 360);
  });
});

/** As a browser does it; no program can drag a file from outside. */
async function drop(page: Page, how: "drop" | "paste", name: string, content: Buffer): Promise<void> {
  const type = name.endsWith(".png") ? "image/png" : "";
  const script = `(([how, name, type, content]) => {
    const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
    const carried = new DataTransfer();
    carried.items.add(new File([bytes], name, { type }));
    const at = document.querySelector(how === "drop" ? "main" : "#words");
    const event = how === "drop"
      ? new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true })
      : new ClipboardEvent("paste", { clipboardData: carried, bubbles: true, cancelable: true });
    at.dispatchEvent(event);
  })(${JSON.stringify([how, name, type, content.toString("base64")])})`;
  await page.evaluate(script);
}
