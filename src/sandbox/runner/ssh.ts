// The broker for keys of ssh: an agent for the sandbox that hands on to the user's own agent what logs in to a granted
// host, and refuses everything else. Without an agent of the user it starts one with the user's default keys.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type Server, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { agentMessage, boundSession, isLoginIn } from "./agent-protocol.ts";

export type UserEnvironment = Readonly<Record<string, string>>;

export type KnownHosts = { readonly lines: readonly string[]; readonly keys: ReadonlySet<string> };

/** What the user knows of this host. */
export async function knownHosts(host: string, env: UserEnvironment): Promise<KnownHosts> {
  const [, name = host, port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  const wanted = port === undefined || port === "22" ? name : `[${name}]:${port}`;
  const files = [join(env["HOME"] ?? "/", ".ssh", "known_hosts"), "/etc/ssh/ssh_known_hosts"].filter((one) =>
    existsSync(one),
  );
  const found = await Promise.all(files.map((file) => said("ssh-keygen", ["-F", wanted, "-f", file], env)));
  const lines = found
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("@"));
  return { lines, keys: new Set(lines.flatMap((line) => line.split(" ")[2] ?? [])) };
}

function said(program: string, words: readonly string[], env: UserEnvironment): Promise<string> {
  return new Promise((resolve) => {
    // It fails where nothing is found.
    execFile(program, [...words], { env: { ...env }, cwd: "/", timeout: 10_000 }, (_error, out) => resolve(out));
  });
}

export type UserAgent = { readonly path: string; end(): Promise<void> };

/** The user's agent, or one with the keys that need no passphrase. */
export async function userAgent(env: UserEnvironment): Promise<UserAgent> {
  const own = env["SSH_AUTH_SOCK"];
  if (own !== undefined && existsSync(own)) return { path: own, end: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), "everturn-agent-"));
  const path = join(folder, "agent");
  const child: ChildProcess = spawn("ssh-agent", ["-D", "-a", path], { env: { ...env }, cwd: "/", stdio: "ignore" });
  child.once("error", () => undefined);
  for (let tries = 0; !existsSync(path) && tries < 200; tries++) await pause(10);
  await said("ssh-add", ["-q"], { ...env, SSH_AUTH_SOCK: path, SSH_ASKPASS_REQUIRE: "never", DISPLAY: "" });
  return {
    path,
    async end() {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const maxMessage = 256 * 1024;

export function openAgentBroker(upstream: string, hostKeys: ReadonlySet<string>): Server {
  return createServer((client) => {
    const agent = connect({ path: upstream });
    const sessions = new Set<string>();
    client.on("error", () => agent.destroy());
    agent.on("error", () => client.destroy());
    client.on("close", () => agent.destroy());
    agent.pipe(client);
    let bytes = Buffer.alloc(0);
    client.on("data", (part: Buffer) => {
      bytes = Buffer.concat([bytes, part]);
      while (bytes.length >= 4) {
        const size = bytes.readUInt32BE(0);
        if (size === 0 || size > maxMessage) return void client.destroy();
        if (bytes.length < 4 + size) return;
        const message = bytes.subarray(0, 4 + size);
        bytes = bytes.subarray(4 + size);
        pass(message, client, agent, sessions, hostKeys);
      }
    });
  });
}

function pass(
  message: Buffer,
  client: Socket,
  agent: Socket,
  sessions: Set<string>,
  hostKeys: ReadonlySet<string>,
): void {
  const [type, payload] = [message[4], message.subarray(5)];
  const reply = (code: number) => client.write(Buffer.from([0, 0, 0, 1, code]));
  if (type === agentMessage.identities) return void agent.write(message);
  if (type === agentMessage.sign && isLoginIn(payload, sessions)) return void agent.write(message);
  const session = type === agentMessage.extension ? boundSession(payload, hostKeys) : null;
  if (session !== null) sessions.add(session);
  reply(session === null ? agentMessage.failure : agentMessage.success);
}
