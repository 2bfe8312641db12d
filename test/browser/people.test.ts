// The page about strangers: who asks to be let in stands at its side, and a press lets them in or turns them down.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { FakeTelegram } from "../fakes/telegram.ts";
import { enter, openBrowser, shoot, startGateway, until } from "./stage.ts";

describe("people", () => {
  let browser: Browser;
  let fake: FakeTelegram;
  before(async () => {
    fake = await FakeTelegram.start();
    process.env["EVERTURN_PLATFORMS__TELEGRAM__TOKEN"] = fake.token;
    process.env["EVERTURN_PLATFORMS__TELEGRAM__API_ROOT"] = fake.url;
    browser = await openBrowser();
  });
  after(async () => {
    delete process.env["EVERTURN_PLATFORMS__TELEGRAM__TOKEN"];
    delete process.env["EVERTURN_PLATFORMS__TELEGRAM__API_ROOT"];
    await browser.close();
    await fake.close();
  });

  it("shows who waits, lets in and turns down by a press; names are only words", async (t) => {
    const gateway = await startGateway(t);
    const eve = fake.person("Eve", { username: "eve" });
    const mallory = fake.person("Mallory", { username: '<img src=x onerror=alert("1")>' });
    eve.write("hello");
    mallory.write("hello");
    const heard = (chat: typeof eve.chat, words: RegExp) =>
      until(
        async () => fake.said(chat),
        (said) => said.some((text) => words.test(text)),
        `somebody hears ${words.source}`,
      );
    await heard(eve.chat, /I do not know you yet/);
    await heard(mallory.chat, /I do not know you yet/);
    const { page, faults } = await enter(t, browser, gateway);
    const cards = page.locator(".strangers article");
    await until(
      () => cards.count(),
      (count) => count === 2,
      "both are shown",
    );
    await shoot(page, "strangers");
    assert.equal(await page.locator(".strangers img").count(), 0);
    const card = cards.filter({ hasText: `${eve.id} at telegram` });
    await card.getByRole("button", { name: "Let in" }).click();
    await heard(eve.chat, /^You may write to me now\.$/);
    await until(
      () => cards.count(),
      (count) => count === 1,
      "one is left",
    );
    await cards.getByRole("button", { name: "Turn down" }).click();
    await until(
      () => page.locator(".strangers").count(),
      (count) => count === 0,
      "nobody waits",
    );
    eve.write("what is a plum");
    await heard(eve.chat, /plum/);
    assert.equal(fake.said(mallory.chat).length, 1, "who was turned down hears nothing");
    assert.deepEqual(faults, []);
  });
});
