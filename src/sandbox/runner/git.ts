// The broker for passwords of git: it asks the user's own git, in an empty folder, for exactly the hosts
// that were granted. Nothing of a workspace has a say in it: neither its configuration nor its hooks.

import { execFile } from "node:child_process";
import { type Server, createServer } from "node:net";
import { normalizeHost } from "./hosts.ts";
import type { UserEnvironment } from "./ssh.ts";

const maxBytes = 16 * 1024;

/** Pure: the host that a request of git is for; null where it is for none of the granted ones. */
export function requestedHost(text: string, hosts: readonly string[]): string | null {
  const fields = new Map(
    text.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const host = fields.get("host") ?? "";
  const isSafe = /^[\w.-]+(?::\d+)?$/.test(host) && fields.get("protocol") === "https";
  return isSafe && hosts.some((one) => normalizeHost(one) === normalizeHost(host)) ? host : null;
}

export function openGitBroker(hosts: readonly string[], env: UserEnvironment): Server {
  return createServer((client) => {
    let text = "";
    client.on("error", () => client.destroy());
    client.on("data", (part: Buffer) => {
      text += part.toString();
      if (text.length > maxBytes) return void client.destroy();
      if (!text.includes("\n\n")) return;
      client.removeAllListeners("data");
      const host = requestedHost(text, hosts);
      if (host === null) client.end();
      else void fill(host, env).then((answer) => client.end(answer));
    });
  });
}

/** User name and password; empty where git has none without asking somebody. */
function fill(host: string, env: UserEnvironment): Promise<string> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env, GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "", SSH_ASKPASS: "" },
      cwd: "/",
      timeout: 30_000,
    };
    const child = execFile("git", ["credential", "fill"], options, (error, out) => {
      const lines = out.split("\n").filter((line) => /^(?:username|password)=/.test(line));
      resolve(error === null ? `${lines.join("\n")}\n` : "");
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`protocol=https\nhost=${host}\n\n`);
  });
}
