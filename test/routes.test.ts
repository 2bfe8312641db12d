// Every address that the gateway answers, from its own tables and from those of the platforms: each has a limit on bodies,
// and each platform declares what it answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apiRoutes } from "../src/control/api/index.ts";
import { matchRoute } from "../src/control/match.ts";
import { api } from "../src/platforms/api/index.ts";
import { chat } from "../src/platforms/chat/index.ts";
import { hooks } from "../src/platforms/hooks/index.ts";
import { webhook } from "../src/platforms/telegram/webhook.ts";
import type { HttpRoute, Routes } from "../src/ports/http.ts";

const none = (): never => assert.fail("nothing is asked of it");
const around = { world: none, blobs: none, archive: none, store: none, gateway: none } as never;

const mounted: Readonly<Record<string, Routes>> = {
  web: chat("web", none as never, { boot: "b", version: "v" }).routes,
  terminal: chat("terminal", none as never, { boot: "b", version: "v" }).routes,
  api: api({ keys: [], filesOf: none }, around).routes,
  hooks: hooks([], around).routes,
  telegram: webhook(none as never, none as never, { token: "t", webhook: { url: "https://bot.example" } }).routes,
};

const maxOf = ({ body }: HttpRoute) => (body === "none" ? 0 : "whole" in body ? body.whole : body.stream);

test("what takes a body has a limit that fits it; what is read has none", () => {
  const all = [...apiRoutes, ...Object.values(mounted).flatMap(({ routes }) => routes)];
  assert.ok(all.length > 40);
  for (const route of all) {
    const name = `${route.method} ${route.path}`;
    if (route.method === "GET") assert.equal(route.body, "none", name);
    else assert.ok(maxOf(route) > 0 && maxOf(route) <= 50_000_000, name);
    // What is held in memory at once is a fraction of what all bodies together may take.
    if (route.body !== "none" && "whole" in route.body) assert.ok(maxOf(route) <= 32 * 1024 * 1024, name);
  }
});

test("the routes of a platform lie below its prefix, and there are some", () => {
  for (const [name, { prefix, routes }] of Object.entries(mounted)) {
    assert.ok(routes.length > 0, name);
    for (const { path } of routes) assert.ok(path === prefix || path.startsWith(`${prefix}/`), `${name}: ${path}`);
    assert.ok(!apiRoutes.some(({ path }) => path.startsWith(`${prefix}/`)), `${name} hides no route of the gateway`);
  }
});

test("what strangers reach is looked at before its body is read", () => {
  for (const [name, { auth, admit }] of Object.entries(mounted))
    assert.equal(admit !== undefined, auth === "own", `${name} checks headers first`);
  const open = apiRoutes.filter(({ role }) => role === "public");
  assert.deepEqual(
    open.map(({ method, path, body }) => [method, path, body]),
    [["POST", "/api/sign-in", { whole: 1024 }]],
  );
});

test("an address is one route", () => {
  for (const [method, path, found] of [
    ["GET", "/api/sessions/search", "/api/sessions/search"],
    ["GET", "/api/sessions/x", "/api/sessions/:id"],
    ["POST", "/api/pairings/approve", "/api/pairings/approve"],
    ["POST", "/api/devices/revoke", "/api/devices/revoke"],
    ["POST", "/api/devices/x/revoke", "/api/devices/:id/revoke"],
  ] as const) {
    const match = matchRoute(apiRoutes, method, path);
    assert.equal(match.type === "found" ? match.route.path : null, found);
  }
  for (const path of ["/api/sessions/", "/api/sessions/%", "/api/sessions/a/b/c", "/api//status"])
    assert.equal(matchRoute(apiRoutes, "GET", path).type, "nothing", path);
  assert.deepEqual(matchRoute(apiRoutes, "POST", "/api/status"), { type: "wrong-method", allow: ["GET"] });
});
