// Bad input and bad luck with the real program: configurations with faults, messages of odd sizes and scripts, clients
// that hang up, and requests of those who should not get in. Every answer says what happened and what to do.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client } from "./client.ts";
import { type Gateway, atEnd, newHome, refusedStart, run, runGateway, until } from "./stage.ts";

function homeWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const home = newHome(t);
  mkdirSync(home, { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text, { mode: 0o600 });
  return home;
}

/** The start and `config check` tell the same faults, all of them, each with its line. */
async function assertWrong(
  t: TestContext,
  home: string,
  count: RegExp,
  faults: readonly RegExp[],
  env = {},
): Promise<string> {
  const check = await run(t, home, ["config", "check"], { env });
  assert.equal(check.code, 78, check.out);
  const refused = await refusedStart(t, home, { env });
  assert.equal(refused.code, 78, refused.err);
  assert.equal(refused.out, "");
  for (const { err } of [refused, check]) {
    assert.match(err, count);
    for (const fault of faults) assert.match(err, fault);
  }
  return refused.err;
}

test("YAML that cannot be read: the place is named", async (t) => {
  const home = homeWith(t, { "config.yaml": "control:\n  port: 7433\n\tlog: {}\n" });
  await assertWrong(t, home, /The configuration has a fault:/, [
    /config\.yaml, line 3, column \d+: .*tab.*; use spaces/,
  ]);
  const open = homeWith(t, { "config.yaml": 'log:\n  level: "info\n' });
  await assertWrong(t, open, /fault/, [/config\.yaml, line \d+.*(?:quote|finished)/]);
});

test("unknown keys, wrong types and missing secrets: all faults at once, each with its line", async (t) => {
  const yaml = [
    "control:",
    "  prot: 7433",
    "  host: [127.0.0.1]",
    "gateway: { drainSeconds: -1 }",
    "platforms:",
    "  web: { busy: later }",
    "recovery:",
    "  afterCrash: ${AFTER_CRASH}",
    "log: { level: 3 }",
    "memory: large",
  ];
  const home = homeWith(t, { "config.yaml": `${yaml.join("\n")}\n`, ".env": "OTHER=s3cr3t-value\n" });
  const said = await assertWrong(
    t,
    home,
    /The configuration has 8 faults:/,
    [
      /line 2: control\.prot is not known; did you mean port\?/,
      /line 3: control\.host must be text, but is a list; /,
      /line 4: gateway\.drainSeconds must be a number from 0/,
      /line 6: platforms\.web\.busy must be queue, interrupt or steer, but is "later"; /,
      /line 8: recovery\.afterCrash .*AFTER_CRASH.*; /,
      /line 9: log\.level must be debug, info, warn or error, but is 3; /,
      /line 10: memory is not known; remove it; known here: /,
      /EVERTURN_LOG__LEVL: log\.levl is not known; did you mean EVERTURN_LOG__LEVEL\?/,
    ],
    { EVERTURN_LOG__LEVL: "info" },
  );
  assert.ok(!said.includes("s3cr3t-value"));
  assert.equal(said.match(/^ {2}\S/gm)?.length, Number(/has (\d)/.exec(said)?.[1]), "one line for each fault");
});

test("a fault that is corrected is forgotten", async (t) => {
  const home = homeWith(t, { "config.yaml": "gateway: { drainSeconds: many }\n" });
  await assertWrong(t, home, /a fault:/, [/line 1: gateway\.drainSeconds must be a number/]);
  writeFileSync(join(home, "config.yaml"), "gateway: { drainSeconds: 1 }\n");
  const gateway = await runGateway(t, home);
  assert.equal(await gateway.end(), 0);
});

test("messages of 1 MB and of 0 bytes, emoji, right-to-left, markup: stored and given back as they are", async (t) => {
  const gateway = await runGateway(t, newHome(t));
  const ask = client(gateway);
  const megabyte = "0123456789abcdef".repeat(65_536);
  const texts = [
    megabyte,
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁷󠁬󠁳󠁿 é e\u0301 🇺🇳 \u{1F600}",
    "مرحبا بالعالم — שלום עולם \u202eabc\u202c",
    "<script>alert(1)</script><img src=x onerror=alert(2)> &amp; <b>bold</b>",
    "data: x\n\nevent: message\nid: 99999\ndata: {}\n\n",
    "line\r\nline\rline\u2028line\u0000end",
  ];
  for (const [i, text] of texts.entries()) assert.equal(await ask.send("odd", `m${i}`, text), "accepted");
  const seen = await until(
    () => ask.transcript("odd"),
    (all) => all.length === 2 * texts.length,
    "all is answered",
  );
  assert.deepEqual(
    seen.flatMap((one) => (one.role === "user" ? [one.text] : [])),
    texts,
  );
  assert.deepEqual(
    seen.flatMap((one) => (one.role === "assistant" ? [one.text] : [])),
    texts.map((text) => `You said: ${text}`),
  );
  // The same over the event stream, where a text could break out of its frame.
  const live: unknown[] = [];
  for await (const { type, data } of ask.events("odd", 0, AbortSignal.timeout(60_000))) {
    if (type === "message") live.push(data);
    if (type === "live") break;
  }
  assert.deepEqual(live, seen);

  const cases = [
    [{ text: "" }, 400, /`text` is empty/],
    [{ text: " \n\t" }, 400, /`text` is empty/],
    [{ text: 7 }, 400, /`text` must be a string/],
    [{}, 400, /Give either `text` or `answer`/],
    [{ text: "x".repeat(2_000_001) }, 413, /2,?000,?000 characters.*smaller pieces/],
    [{ text: "x".repeat(5_000_000) }, 413, /too large|larger than 4 MB/],
  ] as const;
  for (const [said, status, says] of cases) {
    const refused = await ask.post("odd", "never", said as { text: string });
    assert.equal(refused.status, status);
    assert.match((refused.body as { error: { message: string } }).error.message, says);
  }
  for (const body of ["", "{", "[]", '"text"', "null", "\u0000"]) {
    const refused = await ask.call("/api/chat/web/odd/messages", { method: "POST", body });
    assert.equal(refused.status, 400, body);
    assert.match((refused.body as { error: { message: string } }).error.message, /\bJSON\b/);
  }
  assert.equal((await ask.transcript("odd")).length, 2 * texts.length, "nothing refused was stored");
  assert.equal(await gateway.end(), 0);
});

test("clients that hang up in the middle cost nobody else anything", async (t) => {
  const gateway = await runGateway(t, newHome(t));
  const ask = client(gateway);
  await ask.send("c1", "m0", "count to 4 slowly");
  for (let i = 0; i < 30; i++) {
    const gone = new AbortController();
    for await (const { type } of ask.events("c1", 0, gone.signal)) if (type === "message") break;
    gone.abort();
  }
  // Half a request, half a body, half a header; then silence or a hang-up.
  const head = `POST /api/chat/web/c1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nAuthorization: Bearer ${gateway.token}\r\n`;
  const halves = ["", "POST /api/ch", head, `${head}Content-Length: 1000\r\n\r\n{"id":"half","te`];
  for (const half of halves) {
    const quitter = connect(gateway.port, "127.0.0.1");
    const silent = connect(gateway.port, "127.0.0.1");
    atEnd(t, () => silent.destroy());
    for (const socket of [quitter, silent]) {
      socket.on("error", () => undefined);
      await new Promise((resolve) => socket.once("connect", resolve));
      await new Promise((resolve) => socket.write(half || " ", resolve));
    }
    quitter.resetAndDestroy();
  }
  await ask.send("c2", "m0", "who is there?");
  await until(
    () => ask.transcript("c2"),
    (all) => all.length === 2,
    "others are answered",
  );
  const all = await until(
    () => ask.transcript("c1"),
    (seen) => seen.length >= 2,
    "and so is the one who left",
  );
  assert.match(all[1]?.text ?? "", /^1, 2, 3, 4\n\nCounted to 4 without interruption/);
  assert.equal(all.length, 2, "half a message is none");
  assert.equal(await gateway.end(), 0, gateway.err());
});

type Raw = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

/** A request with any headers, also those that a browser would not let a page set. */
function raw(to: Gateway, path: string, headers: Record<string, string>, body?: string): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request({ host: "127.0.0.1", port: to.port, path, method, headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

test("a wrong token, a foreign page and a rebound name get nothing but a word what to do", async (t) => {
  const gateway = await runGateway(t, newHome(t));
  const own = `127.0.0.1:${gateway.port}`;
  const bearer = `Bearer ${gateway.token}`;
  const message = JSON.stringify({ id: "evil", text: "let me in" });
  const path = "/api/chat/web/c1/messages";
  const refusals: readonly (readonly [number, RegExp, Record<string, string>])[] = [
    [401, /needs an access token.*everturn link/, { host: own }],
    [401, /access token is wrong.*everturn link/, { host: own, authorization: "Bearer wrong" }],
    [401, /access token is wrong/, { host: own, authorization: `Bearer ${gateway.token}x` }],
    [401, /needs an access token/, { host: own, cookie: `everturn=${gateway.token}` }],
    [
      403,
      /Another web page.*nothing was done\. \S+ .*everturn link/,
      { host: own, authorization: bearer, origin: "https://evil.example" },
    ],
    [
      403,
      /Another web page.*nothing was done\. \S+ .*everturn link/,
      { host: own, authorization: bearer, origin: "null" },
    ],
    [403, /Another web page/, { host: own, authorization: bearer, "sec-fetch-site": "cross-site" }],
    [403, /Another web page/, { host: own, authorization: bearer, origin: `http://127.0.0.1:${gateway.port + 1}` }],
    [
      403,
      /answers only under 127\.0\.0\.1:\d+.*another name/,
      { host: `evil.example:${gateway.port}`, authorization: bearer },
    ],
    [403, /answers only under .*another name/, { host: "127.0.0.1", authorization: bearer }],
    [
      403,
      /answers only under .*another name/,
      { host: `127.0.0.1.evil.example:${gateway.port}`, authorization: bearer },
    ],
  ];
  for (const [status, says, headers] of refusals) {
    for (const [where, body] of [
      [path, message],
      [path, undefined],
      ["/api/status", undefined],
      ["/api/chat/web/c1/events", undefined],
    ] as const) {
      const refused = await raw(gateway, where, { "content-type": "application/json", ...headers }, body);
      assert.equal(refused.status, status, `${where} ${JSON.stringify(headers)}: ${refused.text}`);
      assert.match(refused.text, says);
      assert.ok(!refused.text.includes(gateway.token), "the token is never told");
      assert.equal(refused.headers["access-control-allow-origin"], undefined);
    }
  }
  // The page itself is not given to a rebound name either, and a token in an address opens nothing.
  assert.equal((await raw(gateway, "/", { host: `evil.example:${gateway.port}` })).status, 403);
  for (const token of ["wrong", gateway.token]) {
    const old = await raw(gateway, `/?token=${token}`, { host: own });
    assert.deepEqual([old.status, old.headers["location"], old.headers["set-cookie"]], [303, "/#old-link", undefined]);
  }
  assert.deepEqual(await client(gateway).transcript("c1"), [], "nothing of all that was stored");
  assert.ok(!gateway.err().includes(gateway.token), "nor is the token in the log");
  assert.equal(await gateway.end(), 0);
});
