// The page about strangers: who asks to be let in stands at its side, and a press lets them in or turns them down.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Locator } from "playwright-core";
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

  it("has room for three, says first what a name is worth, and marks the button that hides them on a phone", async (t) => {
    const gateway = await startGateway(t);
    for (const name of ["Frank", "Grace", "Heidi"]) {
      const { chat, write } = fake.person(name);
      write("hello");
      await until(
        async () => fake.said(chat).length,
        (count) => count === 1,
        `${name} is told a code`,
      );
    }
    for (const colorScheme of ["light", "dark"] as const) {
      const wide = await enter(t, browser, gateway, { viewport: { width: 1200, height: 800 }, colorScheme });
      const cards = wide.page.locator(".strangers article");
      await until(
        () => cards.count(),
        (count) => count === 3,
        "all are shown",
      );
      await shoot(wide.page, `three-strangers-${colorScheme}`);
      const box = async (of: Locator) => (await of.boundingBox()) ?? assert.fail("it is not drawn");
      const list = await box(wide.page.locator(".strangers .waiting"));
      const last = await box(cards.last());
      assert.ok(last.y + last.height <= list.y + list.height + 1, "the last card is whole");
      const warning = await box(wide.page.locator(".strangers > .hint"));
      assert.ok(warning.y + warning.height <= (await box(cards.first())).y, "the warning stands above");
      assert.equal(await wide.page.locator(".head .unread").isVisible(), false);

      const narrow = await enter(t, browser, gateway, { viewport: { width: 390, height: 800 }, colorScheme });
      const menu = narrow.page.getByRole("button", { name: "Conversations; somebody asks to be let in" });
      await menu.waitFor();
      assert.equal(await menu.locator(".unread").isVisible(), true);
      await shoot(narrow.page, `three-strangers-narrow-${colorScheme}`);
      await menu.click();
      await narrow.page.getByRole("button", { name: "Let in: Heidi" }).waitFor();
      await shoot(narrow.page, `three-strangers-drawer-${colorScheme}`);
      assert.deepEqual([...wide.faults, ...narrow.faults], []);
    }
  });
});
