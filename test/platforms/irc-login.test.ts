// Accounts of IRC networks, with the real gateway: by a password and by a certificate, at a fake over real TLS and at a network
// of other people's programs, which is also killed and comes back.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { fakeIrc } from "../fakes/irc.ts";
import { type IrcUser, ircUser } from "../fakes/irc-user.ts";
import { client } from "../process/client.ts";
import { type Gateway, atEnd, newHome, runGateway, until } from "../process/stage.ts";
import { type Certificate, type Network, certificateIn, ircNetwork, missingNetwork } from "./irc-network.ts";

type Login = { readonly port: number; readonly sasl: string; readonly allow?: string; readonly trusts: string };

async function gatewayWith(t: TestContext, { port, sasl, trusts, allow = '["*"]' }: Login): Promise<Gateway> {
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  const lines = ["host: localhost", `port: ${port}`, "nick: ever", 'channels: ["#talk"]', "lineEveryMs: 20"];
  const own = [...lines, `sasl: ${sasl}`, `allow: ${allow}`].map((line) => `    ${line}\n`).join("");
  writeFileSync(join(home, "config.yaml"), `agent: { backend: echo }\nplatforms:\n  irc:\n${own}`);
  return runGateway(t, home, { env: { NODE_EXTRA_CA_CERTS: trusts } });
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-login-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const external = ({ certificate, key }: Certificate): string => `{ certificate: ${certificate}, key: ${key} }`;
const fingerprintOf = ({ certificate }: Certificate): string =>
  new X509Certificate(readFileSync(certificate)).fingerprint256;

async function whyDown(gateway: Gateway, pattern: RegExp): Promise<void> {
  const ask = client(gateway);
  await until(
    () => ask.get<{ platforms: readonly { platform: string; why: string | null }[] }>("/api/status"),
    ({ platforms }) => platforms.some(({ platform, why }) => platform === "irc" && pattern.test(why ?? "")),
    `the status tells ${pattern}`,
  );
}

describe("a login by certificate, at a fake over TLS", { timeout: 300_000 }, () => {
  test("a certificate that the account knows is let in; lines that are skipped are logged without what they say", async (t) => {
    const folder = folderOf(t);
    const [server, known] = [await certificateIn(t, folder, "localhost"), await certificateIn(t, folder, "ever")];
    const fake = await fakeIrc("", false, { ...server, fingerprint: fingerprintOf(known) });
    atEnd(t, () => fake.close());
    const gateway = await gatewayWith(t, { port: fake.port, sasl: external(known), trusts: server.certificate });
    await until(
      () => fake.line("ann", "ever", "good morning"),
      (line) => line !== null,
      "the gateway is logged in",
    );
    await until(
      () => fake.said,
      (said) => said.some(({ target, text }) => target === "ann" && text === "You said: good morning"),
      "the answer arrives",
    );
    fake.line("ann", "ever", "\x01VERSION secret-word\x01");
    fake.repeat("!!! nothing of IRC: secret-word");
    const skips = await until(
      () =>
        gateway
          .err()
          .split("\n")
          .filter((line) => line.includes("irc.line_skipped")),
      (lines) => lines.length >= 2,
      "both lines are logged",
    );
    assert.match(skips.join("\n"), /CTCP[\s\S]*not a line of IRC/);
    assert.ok(!gateway.err().includes("secret-word"), "nothing of them is in the log");
  });

  test("a certificate that nobody knows, and one that cannot be read, are told in the status", async (t) => {
    const folder = folderOf(t);
    const [server, other] = [await certificateIn(t, folder, "localhost"), await certificateIn(t, folder, "other")];
    const fake = await fakeIrc("", false, { ...server, fingerprint: "another one" });
    atEnd(t, () => fake.close());
    const login = { port: fake.port, trusts: server.certificate };
    const refused = await gatewayWith(t, { ...login, sasl: external(other) });
    await whyDown(refused, /does not take the account with its password or certificate/);
    const unreadable = await gatewayWith(t, { ...login, sasl: `{ certificate: ${join(folder, "missing.pem")} }` });
    await whyDown(unreadable, /client certificate for IRC cannot be read: .*missing\.pem/);
  });
});

/** Somebody who has registered their nick, or identified for it. */
async function registered(t: TestContext, { port }: Network, nick: string, verb: string): Promise<IrcUser> {
  const user = await ircUser(port, nick, ["#talk"]);
  atEnd(t, () => user.close());
  await serviced(user, verb, /registered|already|You are now identified|Password accepted/i);
  return user;
}

/** Tells NickServ something until it answers so: services link to a server a moment after it listens. */
async function serviced(user: IrcUser, words: string, answer: RegExp): Promise<void> {
  const from = user.heard.length;
  await until(
    () => {
      user.say("NickServ", words);
      return user.heard.slice(from);
    },
    (heard) => heard.some(({ from: who, text }) => who === "NickServ" && answer.test(text)),
    () => `NickServ answers ${answer}; it said ${JSON.stringify(user.heard.slice(from).slice(-3))}`,
    500,
  );
}

async function answers(user: IrcUser, words: string): Promise<void> {
  await until(
    () => user.sees("ever", "#talk"),
    (sees) => sees,
    "the gateway is in the channel",
  );
  user.say("ever", words);
  await until(
    () => user.heard,
    (heard) => heard.some(({ text }) => text === `You said: ${words}`),
    () => `${user.nick} hears the answer, but heard ${JSON.stringify(user.heard.slice(-5))}`,
  );
}

describe("InspIRCd with Anope", { skip: missingNetwork, timeout: 600_000 }, () => {
  test("accounts by password and by certificate, people known by theirs, and a server that is killed", async (t) => {
    const network = await ircNetwork(t);
    const trusts = network.certificate;
    const owner = await registered(t, network, "helper", "REGISTER let-me-in helper@test.example");
    const alice = await registered(t, network, "alice", "REGISTER alice-word alice@test.example");
    const allow = '["account:alice"]';

    const plain = "{ account: helper, password: let-me-in }";
    const first = await gatewayWith(t, { port: network.tlsPort, sasl: plain, allow, trusts });
    await answers(alice, "by password");
    owner.raw("WHOIS ever");
    await until(
      () => owner.accounts.get("ever"),
      (account) => account === "helper",
      () => `the network knows its account: ${JSON.stringify([...owner.accounts])}`,
    );
    alice.say("#talk", "ever: in the channel");
    await until(
      () => alice.heard,
      (heard) => heard.some(({ text }) => text === "alice: You said: in the channel"),
      "a channel is answered",
    );
    await first.end("SIGINT");

    const wrong = await gatewayWith(t, {
      port: network.tlsPort,
      sasl: "{ account: helper, password: guessed }",
      trusts,
    });
    await whyDown(wrong, /does not take the account with its password or certificate/);
    await wrong.end("SIGINT");

    const known = await certificateIn(t, folderOf(t), "ever");
    // Its owner comes with the certificate once and adds it to the account.
    const shown = await ircUser(network.tlsPort, "shown", ["#talk"], known);
    atEnd(t, () => shown.close());
    await serviced(shown, "IDENTIFY helper let-me-in", /now identified|accepted/i);
    await serviced(shown, "CERT ADD", /added|already/i);
    shown.close();
    await gatewayWith(t, { port: network.tlsPort, sasl: external(known), allow, trusts });
    await answers(alice, "by certificate");
    owner.accounts.clear();
    owner.raw("WHOIS ever");
    await until(
      () => owner.accounts.get("ever"),
      (account) => account === "helper",
      "the certificate is the account",
    );

    await network.killAndRestart();
    const back = await registered(t, network, "alice", "IDENTIFY alice-word");
    await answers(back, "after the server died");
  });
});
