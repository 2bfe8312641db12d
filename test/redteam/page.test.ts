// The credential of the page, seen from HTTP: it is no cookie, because a browser sends cookies to every port of this
// machine. And it is not printed where others may read what was printed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../process/stage.ts";
import { limit, openRedStage } from "./stage.ts";

test("no answer sets the token as a cookie, and a cookie opens nothing", limit, async (t) => {
  const stage = await openRedStage(t);
  const { url, port } = await stage.start();
  const token = readFileSync(join(stage.home, "control.token"), "utf8").trim();
  for (const path of ["/", `/?token=${token}`, `/?token=${token}&x=1`, "/index.html", "/api/status"]) {
    const answer = await fetch(`${url}${path}`, { redirect: "manual", headers: { authorization: `Bearer ${token}` } });
    const set = answer.headers.getSetCookie().join("; ");
    assert.ok(!set.includes(token), `${path} sets ${set}`);
    assert.equal(set, "", `${path} sets a cookie, which every port of this machine gets`);
    await answer.body?.cancel();
  }
  for (const name of ["everturn", "token", "session", "device"]) {
    for (const path of ["/api/status", "/api/questions", "/api/chat/web/c/messages", "/metrics"]) {
      const headers = { cookie: `${name}=${token}`, host: `127.0.0.1:${port}` };
      const answer = await fetch(`${url}${path}`, { headers });
      assert.equal(answer.status, 401, `${path} is opened by the cookie ${name}`);
      await answer.body?.cancel();
    }
  }
});

test("the token is not printed where stdout is no terminal", limit, async (t) => {
  const stage = await openRedStage(t);
  const target = await stage.start();
  const token = readFileSync(join(stage.home, "control.token"), "utf8").trim();
  assert.ok(!`${target.out()}${target.err()}`.includes(token), "the gateway printed its token");
  for (const words of [
    ["gateway", "status"],
    ["status"],
    ["doctor"],
    ["gateway", "status", "--json"],
    ["config", "show"],
    ["logs"],
  ]) {
    const { out, err } = await run(t, stage.home, words);
    assert.ok(!`${out}${err}`.includes(token), `\`everturn ${words.join(" ")}\` printed the token`);
  }
});
