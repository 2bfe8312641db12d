// A gateway started by a command, as its user meets it: the address that it prints, the page, the chat protocol.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { userEnvironment } from "./machine.ts";

export type Shown = { readonly key: string; readonly role: string; readonly text: string };
export type Ended = { readonly code: number | null; readonly signal: string | null; readonly err: string };

export type Running = {
  get(path: string): Promise<Response>;
  post(chat: string, body: unknown): Promise<unknown>;
  /** The messages of a conversation as soon as they satisfy a condition. */
  messages(chat: string, isEnough: (all: readonly Shown[]) => boolean): Promise<readonly Shown[]>;
  stop(signal: NodeJS.Signals): Promise<Ended>;
};

export async function runGateway(
  t: TestContext,
  command: string,
  home: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Running> {
  // In a session of its own: only what is sent to the command itself reaches it.
  const child = spawn(command, ["gateway", "run"], {
    detached: true,
    env: userEnvironment({ HOME: dirname(home), EVERTURN_HOME: home, EVERTURN_CONTROL__PORT: "0", ...more }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code, signal]): Ended => ({ code, signal, err }));
  // Nothing to do when the test has stopped it already.
  t.after(() => {
    child.kill("SIGTERM");
    return ended;
  });
  const url = await addressIn(child.stdout);
  if (url === null) throw new Error(`the gateway did not start: ${(await ended).err}`);
  const authorization = `Bearer ${await signIn(url, readFileSync(join(home, "control.token"), "utf8").trim())}`;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, url), { ...init, headers: { authorization, "content-type": "application/json" } });
  return {
    get: (path) => call(path),
    async post(chat, body) {
      const init = { method: "POST", body: JSON.stringify(body) };
      return (await call(`/api/chat/web/${chat}/messages`, init)).json();
    },
    async messages(chat, isEnough) {
      for (;;) {
        const answer = await call(`/api/chat/web/${chat}/messages`);
        const { messages } = (await answer.json()) as { readonly messages: readonly Shown[] };
        if (isEnough(messages)) return messages;
        await wait(10);
      }
    },
    stop(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

async function addressIn(output: NodeJS.ReadableStream): Promise<string | null> {
  const lines = createInterface({ input: output });
  for await (const line of lines) {
    const url = /^Web chat: (http:\/\/[\w.:[\]]+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  return null;
}

/** As a browser does: a one-time link becomes a credential. */
async function signIn(url: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const made = (await (await fetch(`${url}/api/links`, { method: "POST", headers })).json()) as {
    readonly link: string;
  };
  const body = JSON.stringify({ link: new URL(made.link).hash.replace("#link=", "") });
  const answer = await fetch(`${url}/api/sign-in`, { method: "POST", body });
  if (!answer.ok) throw new Error(`the link did not sign in (${answer.status})`);
  return ((await answer.json()) as { readonly credential: string }).credential;
}
