// The brokers of credentials against the real git and the real ssh-agent.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Server, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { isSignedBy } from "../../src/sandbox/runner/agent-protocol.ts";
import { openGitBroker, requestedHost } from "../../src/sandbox/runner/git.ts";
import { knownHosts, openAgentBroker, userAgent } from "../../src/sandbox/runner/ssh.ts";

function newHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "everturn-credentials-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, ".ssh"), { mode: 0o700 });
  return home;
}

async function listenAt(t: TestContext, server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, "listening");
  t.after(() => server.close());
}

async function ask(path: string, bytes: Buffer | string, size: number): Promise<Buffer> {
  const socket = connect({ path });
  let got = Buffer.alloc(0);
  const closed = once(socket, "close");
  socket.on("data", (part: Buffer) => {
    got = Buffer.concat([got, part]);
    if (got.length >= size) socket.destroy();
  });
  socket.write(bytes);
  await closed;
  return got;
}

const has = (program: string) => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch (error) {
    if (error instanceof Error && "status" in error) return false;
    throw error;
  }
};

describe("which request of git is answered", () => {
  const cases: readonly (readonly [text: string, host: string | null])[] = [
    ["protocol=https\nhost=example.org\n\n", "example.org"],
    ["protocol=https\nhost=EXAMPLE.org\npath=a/b.git\n\n", "EXAMPLE.org"],
    ["protocol=http\nhost=example.org\n\n", null],
    ["protocol=https\nhost=other.org\n\n", null],
    ["protocol=https\nhost=example.org.evil.net\n\n", null],
    ["protocol=https\nhost=example.org:8443\n\n", null],
    ["protocol=https\nhost=other.org\nhost=example.org;x\n\n", null],
    ["url=https://example.org\n\n", null],
    ["\n\n", null],
  ];
  for (const [text, host] of cases)
    test(JSON.stringify(text), () => assert.equal(requestedHost(text, ["example.org"]), host));
});

test("git's password of a granted host is handed over, of another one not", { skip: !has("git") }, async (t) => {
  const home = newHome(t);
  writeFileSync(
    join(home, ".gitconfig"),
    '[credential]\n\thelper = "!f() { echo username=me; echo password=secret; }; f"\n',
  );
  const path = join(home, "git");
  await listenAt(t, openGitBroker(["example.org"], { HOME: home, PATH: process.env["PATH"] ?? "" }), path);
  const get = async (host: string) => (await ask(path, `protocol=https\nhost=${host}\n\n`, 1e6)).toString();
  assert.equal(await get("example.org"), "username=me\npassword=secret\n");
  assert.equal(await get("other.org"), "");
});

const string = (bytes: Buffer | string): Buffer => {
  const value = Buffer.from(bytes);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(value.length);
  return Buffer.concat([size, value]);
};
const message = (type: number, ...parts: readonly Buffer[]) => string(Buffer.concat([Buffer.from([type]), ...parts]));

/** The host key of a server, as ssh writes it, and what it signs with. */
function newHostKey(): { readonly blob: Buffer; readonly signed: (data: Buffer) => Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const point = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return {
    blob: Buffer.concat([string("ssh-ed25519"), string(point)]),
    signed: (data) => Buffer.concat([string("ssh-ed25519"), string(sign(null, data, privateKey))]),
  };
}

test("keys sign logins at the granted host alone", { skip: !has("ssh-agent") }, async (t) => {
  const home = newHome(t);
  const env = { HOME: home, PATH: process.env["PATH"] ?? "" };
  const key = join(home, ".ssh", "id_ed25519");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const [granted, other] = [newHostKey(), newHostKey()];
  const lines = [
    `example.org ssh-ed25519 ${granted.blob.toString("base64")}`,
    `other.org ssh-ed25519 ${other.blob.toString("base64")}`,
  ];
  writeFileSync(join(home, ".ssh", "known_hosts"), `${lines.join("\n")}\n`);
  const known = await knownHosts("example.org", env);
  assert.deepEqual(known.lines, [lines[0]]);
  // The agent looks for the user's keys in the home that the system knows, so it is given this one by hand.
  const agent = await userAgent(env);
  t.after(() => agent.end());
  execFileSync("ssh-add", ["-q", key], { env: { ...env, SSH_AUTH_SOCK: agent.path } });
  const path = join(home, "agent");
  await listenAt(t, openAgentBroker(agent.path, known.keys), path);

  const identities = await ask(path, message(11), 60);
  assert.equal(identities[4], 12);
  const blobSize = identities.readUInt32BE(9);
  const blob = identities.subarray(13, 13 + blobSize);

  const session = randomBytes(32);
  const login = (id: Buffer) =>
    Buffer.concat([
      string(id),
      Buffer.from([50]),
      string("git"),
      string("ssh-connection"),
      string("publickey"),
      Buffer.from([1]),
      string("ssh-ed25519"),
      string(blob),
    ]);
  const signing = (data: Buffer) => message(13, string(blob), string(data), Buffer.alloc(4));
  const bind = (host: ReturnType<typeof newHostKey>, id: Buffer, by = host) =>
    message(
      27,
      string("session-bind@openssh.com"),
      string(host.blob),
      string(id),
      string(by.signed(id)),
      Buffer.from([0]),
    );
  /** The type of the last answer. */
  const outcome = async (...messages: readonly Buffer[]) => {
    const got = await ask(path, Buffer.concat(messages), messages.length * 5);
    return [...Array(messages.length).keys()].map((at) => got[at * 5 + 4]);
  };
  const [success, failure, signature] = [6, 5, 14];
  assert.deepEqual(await outcome(bind(granted, session), signing(login(session))), [success, signature]);
  assert.deepEqual(await outcome(signing(login(session))), [failure], "without a session");
  assert.deepEqual(await outcome(bind(other, session), signing(login(session))), [failure, failure], "another host");
  assert.deepEqual(await outcome(bind(granted, session, other), signing(login(session))), [failure, failure], "forged");
  assert.deepEqual(
    await outcome(bind(granted, session), signing(login(randomBytes(32)))),
    [success, failure],
    "another session",
  );
  assert.deepEqual(await outcome(bind(granted, session), signing(Buffer.from("SSHSIG"))), [success, failure], "a file");
  // Adding and removing keys is not for the sandbox.
  assert.deepEqual(await outcome(message(19), message(17), message(22)), [failure, failure, failure]);
});

test("signatures of every kind of host key", { skip: !has("ssh-keygen") }, (t) => {
  const home = newHome(t);
  const data = randomBytes(32);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const rsa = publicKey.export({ format: "jwk" });
  const number = (text = "") => Buffer.concat([Buffer.from([0]), Buffer.from(text, "base64url")]);
  const rsaKey = Buffer.concat([string("ssh-rsa"), string(number(rsa.e)), string(number(rsa.n))]);
  const signature = (algorithm: string, value: Buffer) => Buffer.concat([string(algorithm), string(value)]);
  assert.equal(isSignedBy(rsaKey, data, signature("rsa-sha2-512", sign("sha512", data, privateKey))), true);
  assert.equal(isSignedBy(rsaKey, data, signature("ssh-rsa", sign("sha1", data, privateKey))), false);
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const point = ec.publicKey.export({ format: "jwk" });
  const q = Buffer.concat([
    Buffer.from([4]),
    Buffer.from(point.x ?? "", "base64url"),
    Buffer.from(point.y ?? "", "base64url"),
  ]);
  const ecKey = Buffer.concat([string("ecdsa-sha2-nistp256"), string("nistp256"), string(q)]);
  const raw = sign("sha256", data, { key: ec.privateKey, dsaEncoding: "ieee-p1363" });
  const value = Buffer.concat([
    string(Buffer.concat([Buffer.from([0]), raw.subarray(0, 32)])),
    string(raw.subarray(32)),
  ]);
  assert.equal(isSignedBy(ecKey, data, signature("ecdsa-sha2-nistp256", value)), true);
  assert.equal(isSignedBy(ecKey, randomBytes(32), signature("ecdsa-sha2-nistp256", value)), false);
  assert.equal(isSignedBy(Buffer.from(home), data, Buffer.from("x")), false);
});
