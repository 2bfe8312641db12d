// IRC with a real server and the real gateway: people in a query and in a channel get their answers, long ones whole, through
// kills of the gateway and of the server. What is said while nobody is there to hear it is lost by the nature of IRC, so people
// here speak when they see us, and say again what nobody heard, as people do.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type IrcUser, ircUser } from "../fakes/irc-user.ts";
import { client } from "../process/client.ts";
import { type Gateway, atEnd, newHome, runGateway, until } from "../process/stage.ts";
import { chaos } from "./chaos.ts";
import { missing, ngircd } from "./ngircd.ts";

function configFor(port: number, more: readonly string[] = [], tls = false): string {
  const lines = [
    `host: ${tls ? "localhost" : "127.0.0.1"}`,
    `port: ${port}`,
    `tls: ${tls}`,
    "nick: ever",
    'channels: ["#talk"]',
    "lineEveryMs: 20",
  ];
  const people = ["allow: [alice, bob, carol, dave]", ...more];
  return [
    "agent: { backend: echo }",
    "platforms:",
    "  irc:",
    ...[...lines, ...people].map((line) => `    ${line}`),
    "",
  ].join("\n");
}

function homeWith(t: TestContext, config: string): string {
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), config);
  return home;
}

const gatewayAt = (t: TestContext, config: string): Promise<Gateway> => runGateway(t, homeWith(t, config));

async function person(t: TestContext, port: number, nick: string): Promise<IrcUser> {
  const user = await ircUser(port, nick, ["#talk"]);
  atEnd(t, () => user.close());
  return user;
}

const present = (user: IrcUser): Promise<boolean> =>
  until(
    () => user.sees("ever", "#talk"),
    (sees) => sees,
    "the gateway is in the channel",
  );

const heardBy = (user: IrcUser, pattern: RegExp) =>
  until(
    () => user.heard,
    (heard) => heard.some(({ text }) => pattern.test(text)),
    `${user.nick} hears ${pattern}`,
  );

describe("irc", { skip: missing }, () => {
  test("a query and a channel, where only what is meant for us is answered", async (t) => {
    const { port } = await ngircd(t);
    const alice = await person(t, port, "alice");
    await gatewayAt(t, configFor(port));
    await present(alice);
    alice.say("ever", "good morning");
    await heardBy(alice, /^You said: good morning$/);
    alice.say("#talk", "nobody is meant");
    alice.say("#talk", "ever: and now you");
    await heardBy(alice, /^alice: You said: and now you$/);
    assert.ok(!alice.heard.some(({ text }) => text.includes("nobody is meant")));
    alice.say("ever", "!whoami");
    await heardBy(alice, /alice/);
  });

  test("a long answer arrives whole, in lines that no server cuts", async (t) => {
    const { port } = await ngircd(t);
    const alice = await person(t, port, "alice");
    await gatewayAt(t, configFor(port));
    await present(alice);
    alice.say("ever", "count to 700");
    await heardBy(alice, /Counted to 700/);
    const said = alice.heard.map(({ text }) => text).join(" ");
    const numbers = Array.from({ length: 700 }, (_, n) => `${n + 1}`);
    assert.deepEqual(said.match(/\d+(?=,)|(?<=, )700/g)?.slice(0, 700), numbers);
  });

  test("a server that goes away and comes back is found again", async (t) => {
    const server = await ngircd(t);
    const before = await person(t, server.port, "alice");
    await gatewayAt(t, configFor(server.port));
    await present(before);
    await server.restart();
    const alice = await person(t, server.port, "alice");
    await present(alice);
    alice.say("ever", "are you back?");
    await heardBy(alice, /^You said: are you back\?$/);
  });

  test("a wrong password is told, and not tried again and again", async (t) => {
    const { port } = await ngircd(t, { password: "right" });
    const { url, token } = await gatewayAt(t, configFor(port, ["password: wrong"]));
    const look = async (): Promise<string> => {
      const answer = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
      return answer.text();
    };
    await until(look, (said) => /irc.*(?:denied|password)/i.test(said), "the status tells it");
  });

  test("with TLS, once its certificate is trusted; until then the status says why not", async (t) => {
    const { port, tls } = await ngircd(t, { tls: true });
    assert.ok(tls !== null);
    const alice = await person(t, port, "alice");
    const home = homeWith(t, configFor(tls.port, [], true));
    const first = await runGateway(t, home);
    const ask = client(first);
    const links = () => ask.get<{ platforms: readonly { platform: string; why: string | null }[] }>("/api/status");
    const isTold = ({ platforms }: Awaited<ReturnType<typeof links>>) =>
      platforms.some(({ platform, why }) => platform === "irc" && /with TLS: .*self-signed/.test(why ?? ""));
    await until(links, isTold, "the status tells that the certificate is not trusted");
    await first.end("SIGTERM");
    await runGateway(t, home, { env: { NODE_EXTRA_CA_CERTS: tls.certificate } });
    await present(alice);
    alice.say("ever", "is this secret?");
    await heardBy(alice, /^You said: is this secret\?$/);
  });

  test("its own name is won back when whoever had it goes", async (t) => {
    const { port } = await ngircd(t);
    const alice = await person(t, port, "alice");
    const other = await person(t, port, "ever");
    await gatewayAt(t, configFor(port));
    await until(
      () => alice.sees("ever_", "#talk"),
      (sees) => sees,
      "it is there under another name",
    );
    other.close();
    await until(
      () => alice.sees("ever", "#talk") && !alice.sees("ever_", "#talk"),
      (sees) => sees,
      "it has its own name",
    );
    alice.say("#talk", "ever: is it you?");
    await heardBy(alice, /^alice: You said: is it you\?$/);
  });

  test("what was said before a stop is answered after it, and of the rest the server says that nobody heard it", async (t) => {
    const { port } = await ngircd(t);
    const alice = await person(t, port, "alice");
    const home = homeWith(t, configFor(port));
    const gateway = await runGateway(t, home);
    await present(alice);
    alice.say("ever", "word 0");
    await heardBy(alice, /^You said: word 0$/);
    const ended = gateway.end("SIGTERM");
    let said = 1;
    for (; alice.missed() === 0; said++) {
      alice.say("ever", `word ${said}`);
      await alice.settled();
      await pause(50);
    }
    await ended;
    t.diagnostic(`${said - 1} words while it stopped`);
    await runGateway(t, home);
    const words = Array.from({ length: said - 1 }, (_, n) => `You said: word ${n}`);
    const answers = () => alice.heard.map(({ text }) => text).filter((text) => text.startsWith("You said: word"));
    await until(answers, (all) => words.every((word) => all.includes(word)), "all that it heard is answered");
    assert.deepEqual(answers(), words);
  });

  test("killed at random, all that was stored is answered, once and in order", async (t) => {
    const { port } = await ngircd(t);
    const people = new Map<string, IrcUser>();
    for (const nick of ["alice", "bob", "carol", "dave"]) people.set(nick, await person(t, port, nick));
    const user = (nick: string): IrcUser => people.get(nick) ?? assert.fail(nick);
    const lives = { last: null as Gateway | null };
    let unheard = 0;
    let inFlight = 0;
    const waits: number[] = [];
    const far = {
      config: configFor(port),
      up: (gateway: Gateway) => void (lives.last = gateway),
      // People say again what nobody heard: the server says so, or a later life does not know it. The latter is what was on
      // its way into a process as it was killed, which IRC cannot tell anybody; it is counted.
      async say(nick: string, text: string) {
        for (;;) {
          await present(user(nick));
          const before = user(nick).missed();
          user(nick).say("ever", text);
          await user(nick).settled();
          if (user(nick).missed() !== before) unheard++;
          else {
            const saidAt = Date.now();
            const known = await isStored(lives, text, saidAt);
            if (known) return void waits.push(Date.now() - saidAt);
            inFlight++;
          }
        }
      },
      seen: (nick: string) => user(nick).heard.map(({ text }) => text),
    };
    const plan = { chats: [...people.keys()], patienceMs: 90_000 };
    const { lost, doubled, reordered, givenUp, kills } = await chaos(t, far, plan);
    const median = waits.toSorted((a, b) => a - b)[waits.length >> 1];
    t.diagnostic(
      `said again: ${unheard} that met nobody, ${inFlight} that met a dying gateway; stored in ${median} ms`,
    );
    assert.deepEqual({ lost, reordered, givenUp }, { lost: [], reordered: [], givenUp: [] });
    // One answer at a time is on its way, and only that one can be in doubt.
    assert.ok(doubled.length <= kills, `doubled: ${doubled.join(", ")}`);
    assert.ok(inFlight <= people.size * kills, `${inFlight} were lost on their way in`);
  });
});

/** Asks until a life knows the message, or one that began after it was said does not. */
async function isStored(lives: { readonly last: Gateway | null }, text: string, saidAt: number): Promise<boolean> {
  const look = async (): Promise<boolean | null> => {
    const gateway = lives.last;
    if (gateway === null) return null;
    try {
      const ask = client(gateway);
      // The life first: what an earlier one stored, it sees.
      const { startedAt } = await ask.get<{ startedAt: number }>("/api/status");
      const { turns } = await ask.get<{ turns: readonly { readonly text: string }[] }>("/api/turns?limit=200");
      if (turns.some((turn) => turn.text === text)) return true;
      return startedAt > saidAt ? false : null;
    } catch {
      return null;
    }
  };
  return (await until(look, (known) => known !== null, `it is known whether "${text}" was stored`)) ?? false;
}
