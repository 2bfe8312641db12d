// Browsers over real HTTP: signing in by a link, what a credential opens, and how everything ends when it is revoked.

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { accessLimits } from "../core/access/devices.ts";
import type { Instant } from "../core/ids.ts";
import { digestOf, openDevices } from "./devices.ts";
import type { DevicesReply, SignInReply, SignedReply } from "./protocol.ts";
import { bearer, keptDevices, session, signedIn, started, token, turn } from "./samples.ts";

const secretOf = (link: string) => new URL(link).hash.replace("#link=", "");

const enter = (url: string, link: string, more: Record<string, string> = {}) =>
  fetch(`${url}/api/sign-in`, { method: "POST", headers: more, body: JSON.stringify({ link }) });

test("a link becomes a credential, once; only digests are stored", async (t) => {
  const { control, kept } = await started(t);
  const link = await control.newLink();
  assert.match(link, new RegExp(`^${control.url}/#link=[\\w-]{43}$`));
  const secret = secretOf(link);
  const answers = await Promise.all([
    enter(control.url, secret),
    enter(control.url, secret),
    enter(control.url, secret),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 410, 410],
    "one of them gets in",
  );
  const first = answers.find(({ status }) => status === 200) ?? assert.fail();
  const { credential } = (await first.json()) as SignInReply;
  assert.equal((await fetch(`${control.url}/api/status`, bearer(credential))).status, 200);
  assert.equal((await enter(control.url, secret)).status, 410);
  const stored = JSON.stringify([await kept.devices(), await kept.links()]);
  assert.ok(stored.includes(digestOf(credential)));
  for (const plain of [credential, secret]) assert.ok(!stored.includes(plain));
});

test("an unknown link opens nothing, and another site cannot use one", async (t) => {
  const { control } = await started(t);
  for (const wrong of ["", "x", token, "a".repeat(43)]) assert.equal((await enter(control.url, wrong)).status, 410);
  for (const body of ["", "{}", "[]", '{"link":1}'])
    assert.equal((await fetch(`${control.url}/api/sign-in`, { method: "POST", body })).status, 400, body);
  const secret = secretOf(await control.newLink());
  assert.equal((await enter(control.url, secret, { origin: "http://127.0.0.1:1" })).status, 403);
  assert.equal((await enter(control.url, secret, { "sec-fetch-site": "same-site" })).status, 403);
  assert.equal((await enter(control.url, secret)).status, 200, "it is still good");
});

test("a link expires; credentials outlive the process; a device that a kill lost needs a new link", async () => {
  let now = 1_000 as Instant;
  const store = keptDevices();
  const open = () => openDevices({ store, boot: () => "b1", world: { now: () => now, log: () => undefined } });
  const first = await open();
  const old = await first.newLink();
  const young = await first.newLink();
  const entered = (await first.signIn(young.secret, "Firefox/1 Linux")) ?? assert.fail();
  now = (now + accessLimits.linkMs) as Instant;
  assert.equal(await first.signIn(old.secret, ""), null);
  const second = await open();
  assert.deepEqual(second.find(entered.credential)?.device.name, "Firefox on Linux");
  assert.equal(second.find(`${entered.credential}x`), null);
  await second.revoke(entered.device.id);
  assert.equal((await open()).find(entered.credential), null);
});

test("a store that fails while a device is revoked leaves it listed, to be revoked again", async () => {
  const kept = keptDevices();
  let isBroken = false;
  const store = {
    ...kept,
    commit: (...given: Parameters<typeof kept.commit>) =>
      isBroken ? Promise.reject(new Error("disk full")) : kept.commit(...given),
  };
  const world = { now: () => 5 as Instant, log: () => undefined };
  const devices = await openDevices({ store, boot: () => "b1", world });
  const { credential, device } = (await devices.signIn((await devices.newLink()).secret, "")) ?? assert.fail();
  isBroken = true;
  await assert.rejects(devices.revoke(device.id), /disk full/);
  assert.notEqual(devices.find(credential), null);
  isBroken = false;
  assert.deepEqual(await devices.revoke(), [{ ...device }]);
  assert.equal(devices.find(credential), null);
});

test("devices are listed, the asking one is marked, and each can be revoked", async (t) => {
  const { control } = await started(t);
  const one = await signedIn(control);
  const two = await signedIn(control);
  const list = async (headers: Record<string, string>) =>
    ((await (await fetch(`${control.url}/api/devices`, { headers })).json()) as DevicesReply).devices;
  assert.deepEqual(
    (await list(one.headers)).map(({ id, isCurrent }) => [id, isCurrent]),
    [
      [one.device, true],
      [two.device, false],
    ],
  );
  const post = (path: string) => fetch(`${control.url}/api/devices${path}`, { method: "POST", ...bearer() });
  assert.equal((await post(`/${two.device}/revoke`)).status, 200);
  assert.equal((await post(`/${two.device}/revoke`)).status, 404);
  assert.equal((await fetch(`${control.url}/api/devices`, { headers: two.headers })).status, 401);
  assert.deepEqual(await (await post("/revoke")).json(), { revoked: 1 });
  assert.deepEqual(await list(bearer().headers), []);
});

test("a revoked device loses its open streams, and a POST of it that is under way is not obeyed", async (t) => {
  const { control, gateway } = await started(t);
  const { headers, device } = await signedIn(control);
  const events = await fetch(`${control.url}/api/events`, { headers });
  const reader = (events.body ?? assert.fail()).getReader();
  await reader.read();
  const slow = request(`${control.url}/api/turns/${turn.id}/cancel`, {
    method: "POST",
    headers: { ...headers, "content-length": "2" },
  });
  const refused = new Promise<number | string>((resolve) => {
    slow.on("response", (response) => resolve(response.resume().statusCode ?? 0));
    slow.on("error", (error) => resolve(error.message));
  });
  slow.write("{");
  // It is being read when a later request of the same kind has been answered.
  assert.equal(
    (await fetch(`${control.url}/api/sessions/${session.id}/reset`, { method: "POST", headers })).status,
    200,
  );
  const asked = gateway.asked.length;
  await fetch(`${control.url}/api/devices/${device}/revoke`, { method: "POST", ...bearer() });
  slow.end("}");
  assert.notEqual(await refused, 200);
  await assert.rejects(async () => {
    for (;;) if ((await reader.read()).done) throw new Error("ended");
  });
  assert.equal(gateway.asked.length, asked, "nothing of it was done");
});

test("what a browser opens by itself needs a signature: for that address, that device, and for minutes", async (t) => {
  let now = 1_000_000 as Instant;
  const route = { method: "GET", path: "/api/chat/web/:chat/files/:blob", body: "none", isSigned: true } as const;
  const other = { method: "GET", path: "/api/chat/web/:chat/messages", body: "none" } as const;
  const routes = [
    {
      prefix: "/api/chat/web",
      routes: [route, other],
      handle: async (r: Request) => new Response(new URL(r.url).search),
    },
  ];
  const { control } = await started(t, { routes, world: { now: () => now, log: () => undefined } });
  const { headers, device } = await signedIn(control);
  const sign = (paths: readonly string[], by: Record<string, string> = headers) =>
    fetch(`${control.url}/api/signed`, { method: "POST", headers: by, body: JSON.stringify({ paths }) });
  const open = async (path: string, more: Record<string, string> = {}) =>
    (await fetch(`${control.url}${path}`, { headers: more })).status;

  const file = "/api/chat/web/c1/files/b1?name=a%20b.png&show=1";
  const { paths, expiresAt } = (await (await sign([file])).json()) as SignedReply;
  const [signed = ""] = paths;
  assert.equal(await open(signed), 200);
  assert.equal(await open(file), 401, "without a signature");
  assert.equal(await open(file, headers), 200, "with the header");
  for (const [from, to] of [
    ["b1", "b2"],
    ["c1", "c2"],
    ["show=1", "show=0"],
    [device, "other"],
    [`expires=${expiresAt}`, `expires=${expiresAt + 1}`],
    ["signature=", "signature=A"],
    ["files/b1", "messages"],
  ] as const)
    assert.equal(await open(signed.replace(from, to)), 401, String(from));
  assert.equal(await open(signed, { "sec-fetch-site": "same-site" }), 403, "another port of the machine");
  for (const wrong of ["/api/status", "/api/chat/web/c1/messages", "//evil.example/x", "http://evil.example/"])
    assert.equal((await sign([wrong])).status, 400, wrong);
  assert.equal((await sign([file], bearer().headers)).status, 400, "the token has no device");

  now = expiresAt as Instant;
  assert.equal(await open(signed), 401);
  const again = ((await (await sign([file])).json()) as SignedReply).paths[0] ?? "";
  assert.equal(await open(again), 200);
  await fetch(`${control.url}/api/devices/revoke`, { method: "POST", ...bearer() });
  assert.equal(await open(again), 401, "a signature ends with its device");
});
