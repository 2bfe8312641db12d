// What the browser tests stand on: the real gateway as a process of its own in a home of its own, a real browser,
// and ways to wait for what must come. Nothing here depends on how fast the machine is.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { buildPage } from "../../scripts/build-page.ts";

const root = path.resolve(import.meta.dirname, "../..");
/** Long enough for any machine; what hangs is found all the same. */
export const patienceMs = 90_000;
const lookAgainMs = 15_000;

const browserFlags = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export type Gateway = {
  readonly origin: string;
  readonly home: string;
  /** The control token; browsers never see it. */
  readonly token: string;
  /** A new one-time link. */
  link(): Promise<string>;
  /** kill -9, and wait until it is gone. */
  kill(): Promise<void>;
  /** A planned stop, as with Ctrl-C, to its end. */
  stop(): Promise<void>;
  /** A new process with the same home and the same port. */
  restart(): Promise<void>;
  /** What is stored of a conversation, asked from outside the browser. */
  stored(chat: string): Promise<readonly Stored[]>;
};

export type Stored = { readonly key: string; readonly role: string; readonly text: string };

/** The page as the gateway serves it. */
export async function builtPage(): Promise<void> {
  await buildPage(path.join(root, "dist", "page"));
}

export async function startGateway(t: TestContext): Promise<Gateway> {
  await builtPage();
  const home = await mkdtemp(path.join(tmpdir(), "everturn-browser-"));
  let running = await run(home, 0);
  const { origin } = running;
  const token = readFileSync(path.join(home, "control.token"), "utf8").trim();
  t.after(async () => {
    await end(running.process);
    await rm(home, { recursive: true, force: true });
  });
  return {
    origin,
    home,
    token,
    link: () => newLink({ url: origin, token }),
    kill: () => end(running.process),
    stop: () => end(running.process, "SIGINT"),
    async restart() {
      await end(running.process);
      running = await run(home, Number(new URL(origin).port));
    },
    async stored(chat) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${origin}/api/chat/web/${chat}/messages?before=1000000000&limit=500`, {
        headers,
      });
      assert.equal(response.status, 200);
      return ((await response.json()) as { readonly messages: readonly Stored[] }).messages;
    },
  };
}

/** As `everturn link` asks for it. */
export async function newLink({ url, token }: { readonly url: string; readonly token: string }): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/links`, { method: "POST", headers });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { readonly link: string }).link;
}

type Running = { readonly process: ChildProcess; readonly origin: string };

/** Resolves when the process has said where it is; rejects with all it said when it ends before. */
function run(home: string, port: number): Promise<Running> {
  const child = spawn(process.execPath, [path.join(root, "src", "main.ts"), "gateway", "run"], {
    cwd: root,
    env: { ...process.env, EVERTURN_HOME: home, EVERTURN_CONTROL__PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const origin = /Web chat: (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
      if (origin !== undefined) resolve({ process: child, origin });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`The gateway ended (${code ?? signal}) and said:\n${said}`)));
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}

export async function openBrowser(): Promise<Browser> {
  const places = [
    process.env["EVERTURN_CHROMIUM"],
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  const executablePath = places.find((place) => place !== undefined && existsSync(place));
  assert.ok(executablePath, "No browser was found. Install chromium, or name one in EVERTURN_CHROMIUM.");
  return chromium.launch({ executablePath, args: browserFlags });
}

export type Opened = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page's own script, breaches of its content policy, and dialogs that anything has opened. */
  readonly faults: readonly string[];
};

/** A fresh profile that has come in by a link. */
export async function enter(
  t: TestContext,
  browser: Browser,
  gateway: Pick<Gateway, "link">,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Opened> {
  // Nothing moves, so that a picture never shows the middle of a transition.
  const still = { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" } as const;
  const context = await browser.newContext({ ...still, ...options });
  t.after(() => context.close());
  context.setDefaultTimeout(patienceMs);
  const faults: string[] = [];
  const page = await context.newPage();
  watch(page, faults);
  await page.goto(await gateway.link());
  await page.locator("#words").waitFor();
  return { page, context, faults };
}

export function watch(page: Page, faults: string[]): void {
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (said) => {
    if (/content.security.policy/i.test(said.text())) faults.push(said.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}

/**
 * Writes and sends. No person is so quick, but a script can write in the very moment in which the page turns to another
 * conversation, whose own unsent text then stands in the field: so it looks whether the page took the message.
 */
export async function say(page: Page, text: string): Promise<void> {
  const field = page.locator("#words");
  const taken = page.locator("article.user").filter({ hasText: (text.split("\n")[0] ?? "").slice(0, 40) });
  const before = await taken.count();
  for (;;) {
    await field.fill(text);
    await field.press("Enter");
    const deadline = Date.now() + lookAgainMs;
    while (Date.now() < deadline) {
      if ((await taken.count()) > before || (await page.getByRole("alert").count()) > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export const chatOf = (page: Page): string => new URL(page.url()).hash.replace("#/c/", "");
/** Stored messages of the user, as the page shows them. */
export const mine = (page: Page, text: string): Locator =>
  page.locator("article.user:not(.unsent)").filter({ has: page.getByText(text, { exact: true }) });
/** Answers that are whole and stored, never previews. */
export const answer = (page: Page, text: string | RegExp): Locator =>
  page.locator("article.assistant:not(.draft)").filter({ has: page.locator(".bubble", { hasText: text }) });
export const preview = (page: Page): Locator => page.locator("article.draft .body");
export const status = (page: Page): Locator => page.getByRole("status");

/** Looks again and again until it holds; says what it saw last when it never does. */
export async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean, what: string): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) assert.fail(`${what}; seen last: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** For people to look at: EVERTURN_SHOTS names the folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env["EVERTURN_SHOTS"] ?? path.join(tmpdir(), "everturn-shots");
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}
