// The way in: capabilities, logging in, names that are taken, channels; and what ends it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Fault } from "../../core/fault.ts";
import type { IrcSettings } from "./index.ts";
import { parseLine } from "./lines.ts";
import samples from "./samples/lines.json" with { type: "json" };
import { type News, advance, begin, regain } from "./session.ts";

const settings: IrcSettings = {
  host: "irc.example",
  port: 6697,
  tls: true,
  nick: "ever",
  realName: "Everturn",
  password: null,
  sasl: null,
  channels: ["#talk", "#secret key"],
  lineEveryMs: 0,
  askAccounts: false,
};

/** All that is said to a server that says this. */
function talk(lines: readonly string[], own: IrcSettings = settings) {
  let { state, out } = begin(own);
  const news: News[] = [];
  for (const raw of lines) {
    const line = parseLine(raw);
    if (line === null) continue;
    const next = advance(own, state, line);
    state = next.state;
    out = [...out, ...next.out];
    if (next.news !== undefined) news.push(next.news);
  }
  return { state, out, news };
}

const pong = ":irc.example PONG irc.example :joined";

describe("the way in", () => {
  test("of a server without capabilities", () => {
    const { out, news, state } = talk([":s 421 * CAP :Unknown command", samples.welcome, pong]);
    const words = [
      "CAP LS 302",
      "NICK ever",
      "USER ever 0 * :Everturn",
      "JOIN #talk",
      "JOIN #secret key",
      "PING :joined",
    ];
    assert.deepEqual(out, words);
    assert.deepEqual([news, state.isReady], [[{ type: "ready" }], true]);
  });

  test("asks for what it can use", () => {
    const { out } = talk([
      ":s CAP * LS * :multi-prefix",
      samples.capabilities,
      ":s CAP * ACK :server-time message-tags account-tag",
    ]);
    assert.deepEqual(out.slice(3), ["CAP REQ :server-time message-tags account-tag", "CAP END"]);
  });

  test("logs in", () => {
    const own = { ...settings, sasl: { account: "acc", password: "pass word" } };
    const { out } = talk([samples.capabilities, ":s CAP * ACK :sasl", "AUTHENTICATE +", ":s 903 * :yes"], own);
    const secret = Buffer.from("acc\0acc\0pass word").toString("base64");
    assert.deepEqual(out.slice(4), ["AUTHENTICATE PLAIN", `AUTHENTICATE ${secret}`, "CAP END"]);
  });

  test("logs in with a certificate: without a name, or with one", () => {
    const own = { ...settings, sasl: { account: null, certificate: "/c.pem", key: "/k.pem" } };
    const lines = [samples.capabilities, ":s CAP * ACK :sasl", "AUTHENTICATE +", ":s 903 * :yes"];
    assert.deepEqual(talk(lines, own).out.slice(4), ["AUTHENTICATE EXTERNAL", "AUTHENTICATE +", "CAP END"]);
    const named = { ...own, sasl: { ...own.sasl, account: "acc" } };
    assert.deepEqual(talk(lines, named).out.slice(4), ["AUTHENTICATE EXTERNAL", "AUTHENTICATE YWNj", "CAP END"]);
  });

  test("takes another name when its own is taken, and gives up after some", () => {
    const taken = ":s 433 * ever :in use";
    assert.deepEqual(talk([taken, taken]).out.slice(3), ["NICK ever_", "NICK ever__"]);
    assert.equal(talk([taken, samples.welcome.replace("001 ever", "001 ever_")]).state.nick, "ever_");
    assert.throws(() => talk([taken, taken, taken, taken, taken]), /taken/);
  });

  test("tells which channel could not be joined", () => {
    const { news } = talk([samples.welcome, ":s 475 ever #secret :wrong key", pong]);
    assert.deepEqual(news[0], { type: "not-joined", channel: "#secret", why: "wrong key" });
  });
});

describe("what only other settings help against is denied", () => {
  const sasl = { ...settings, sasl: { account: "acc", password: "p" } };
  const cases: readonly (readonly [string, IrcSettings])[] = [
    [":s 464 * :Password incorrect", settings],
    [":s 465 * :You are banned", settings],
    [":s 432 * ever :Erroneous nickname", settings],
    [":s 904 * :SASL failed", sasl],
    [":s 904 * :no such certificate", { ...settings, sasl: { account: null, certificate: "/c.pem", key: "/k.pem" } }],
  ];
  for (const [raw, own] of cases) {
    test(raw, () =>
      assert.throws(
        () => talk([raw], own),
        (error) => error instanceof Fault && error.code === "denied",
      ),
    );
  }
});

test("a server that offers no SASL for now is tried again", () => {
  const own = { ...settings, sasl: { account: "acc", password: "p" } };
  assert.throws(
    () => talk([":s CAP * LS :multi-prefix"], own),
    (error) => !(error instanceof Fault) && /does not offer SASL/.test(String(error)),
  );
});

describe("afterwards", () => {
  const inside = [samples.welcome, pong];
  test("pings are answered, kicks come back in, names are followed", () => {
    const { out, state } = talk([...inside, samples.ping, ":op!a@b KICK #secret ever :out", ":ever!e@h NICK :ever2"]);
    assert.deepEqual(out.slice(-2), ["PONG :irc.example", "JOIN #secret key"]);
    assert.equal(state.nick, "ever2");
  });

  test("an echo of our own line is news of its own, and what the history repeats of us is not", () => {
    const echo = ":ever!e@h PRIVMSG #talk :our words";
    assert.deepEqual(talk([...inside, echo]).news.at(-1), { type: "echoed", target: "#talk", text: "our words" });
    assert.equal(talk([...inside, `@batch=h ${echo}`]).news.at(-1)?.type, "said");
  });

  test("the wished name is asked for when whoever had it leaves it, and not otherwise", () => {
    const other = [":s 433 * ever :in use", samples.welcome.replace("001 ever", "001 ever_"), pong];
    for (const left of [":ever!a@b QUIT :timeout", ":Ever!a@b NICK :else"]) {
      const { out, state } = talk([...other, left, ":ever_!a@b NICK :ever"]);
      assert.deepEqual([out.at(-1), state.nick], ["NICK ever", "ever"], left);
    }
    for (const no of [":bob!a@b QUIT :bye", ":s 433 ever_ ever :in use"]) {
      assert.equal(talk([...other, no]).out.at(-1), "PING :joined", no);
    }
    assert.equal(talk([...inside, ":ever!a@b QUIT :x"]).out.at(-1), "PING :joined");
    assert.deepEqual(regain(settings, talk(other).state), ["NICK ever"], "and now and then without having seen it");
    assert.deepEqual(regain(settings, talk(inside).state), []);
  });

  test("where it is wished and the tags have no accounts, whoever speaks is asked for", () => {
    const asking = { ...settings, askAccounts: true };
    const said = ":bob!~b@host PRIVMSG ever :hi";
    const answer = [":s 330 ever bob Bob :is logged in as", ":s 318 ever bob :End of WHOIS"];
    const { out, news } = talk([...inside, said, ...answer], asking);
    assert.deepEqual(out.slice(-2), ["WHOIS bob", "PING :who 1"]);
    const [last] = news.slice(-1);
    assert.ok(last?.type === "said");
    assert.deepEqual(
      last.lines.map(({ tags }) => tags["account"]),
      ["Bob"],
    );
    for (const other of [talk([":s CAP * ACK :account-tag", ...inside, said], asking), talk([...inside, said])]) {
      assert.deepEqual([other.out.at(-1), other.news.at(-1)?.type], ["PING :joined", "said"]);
    }
    const silent = talk([...inside, said, ":s PONG s :who 1"], asking);
    assert.equal(silent.news.at(-1)?.type, "said");
  });

  test("what is refused is told with its target", () => {
    const { news } = talk([...inside, ":s 401 ever bob :No such nick"]);
    assert.deepEqual(news.at(-1), { type: "refused", target: "bob", code: "401", why: "No such nick" });
  });

  test("the end is an error", () => {
    assert.throws(() => talk([...inside, "ERROR :Closing link"]), /Closing link/);
  });
});
