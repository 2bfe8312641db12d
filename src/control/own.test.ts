// Routes that check their callers themselves, over real HTTP: who gets there, and what the platform is told of them.

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import type { Caller, Routes } from "../ports/http.ts";
import { bearer, started, token } from "./samples.ts";

/** Headers that fetch would not send; the answer's status. */
function status(url: string, headers: Record<string, string>, method = "POST"): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request(url, { headers, method }, (response) => {
    response.resume().on("end", () => resolve(response.statusCode ?? 0));
  });
  asked.on("error", reject).end();
  return promise;
}

function own(): { readonly routes: Routes; readonly callers: (Caller | undefined)[] } {
  const callers: (Caller | undefined)[] = [];
  const handle: Routes["handle"] = async (_request, caller) => {
    callers.push(caller);
    return new Response("here");
  };
  return { routes: { prefix: "/v1", auth: "own", routes: [], handle }, callers };
}

test("routes of their own are reached without the control token, under any name", async (t) => {
  const { routes, callers } = own();
  const { control } = await started(t, { routes: [routes] });
  const strangers = [{}, { host: "bot.example" }, { cookie: `everturn=${token}` }, bearer("wrong").headers];
  for (const headers of strangers) assert.equal(await status(`${control.url}/v1/models`, headers), 200);
  // The token is for loopback: under another name somebody may have read it on the way.
  assert.equal(await status(`${control.url}/v1/models`, { host: "bot.example", ...bearer().headers }), 200);
  assert.deepEqual(callers, Array(5).fill({ isOwner: false }));
  assert.equal(await status(`${control.url}/v1`, bearer().headers, "GET"), 200);
  assert.deepEqual(callers.at(-1), { isOwner: true });
});

test("a page of another site does not get there, whatever it knows", async (t) => {
  const { routes, callers } = own();
  const { control } = await started(t, { routes: [routes] });
  for (const headers of [
    { origin: "http://evil.example" },
    { origin: "null", ...bearer().headers },
    { "sec-fetch-site": "cross-site" },
  ])
    for (const method of ["GET", "POST", "OPTIONS"])
      assert.equal(await status(`${control.url}/v1/models`, headers, method), 403);
  assert.deepEqual(callers, []);
});

test("only what lies below the prefix is theirs, and other routes stay the owner's", async (t) => {
  const { routes, callers } = own();
  const plain: Routes = { prefix: "/api/chat/web", routes: [], handle: async () => new Response("chat") };
  const { control } = await started(t, { routes: [plain, routes] });
  assert.equal(await status(`${control.url}/v1x`, {}, "GET"), 404);
  assert.equal(await status(`${control.url}/api/chat/web`, {}, "GET"), 401);
  assert.equal(await status(`${control.url}/api/chat/web`, bearer().headers, "GET"), 200);
  assert.equal(await status(`${control.url}/api/chat/web`, { host: "bot.example", ...bearer().headers }, "GET"), 403);
  assert.deepEqual(callers, []);
});
