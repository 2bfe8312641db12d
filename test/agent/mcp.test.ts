// MCP against servers of our own, as real processes that are wrong in every way we know.

import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { test } from "node:test";
import { mcpPace } from "../../src/tools/mcp/options.ts";
import { aContext, aVet, stage, until } from "./mcp-stage.ts";

const fakes = join(import.meta.dirname, "..", "fakes", "mcp");
const limit = { timeout: 120_000 };

const aStatus = {
  name: "own",
  kind: "program",
  state: "ready",
  nextAttemptAt: null,
  protocol: "2025-06-18",
  tools: 0,
  processes: 1,
  why: "it runs without a sandbox, for the owner and admins only",
  changed: [],
} as const;

test("tools are listed under their server's name, short enough for every request", limit, async (t) => {
  const { mcp } = stage(t);
  assert.deepEqual(mcp.tools(), []);
  await mcp.ready();
  const echo = mcp.toolNamed("own__echo");
  assert.equal(
    mcp.tools().find((tool) => tool.name === "own__echo"),
    echo,
  );
  assert.equal(echo?.description.length, 500);
  assert.ok(JSON.stringify(echo.input).length < 400, JSON.stringify(echo.input));
  assert.deepEqual(mcp.status(), { own: { ...aStatus, tools: 23 } });
});

test("hints decide the effect of a trusted server's tools alone", limit, async (t) => {
  const effects = async (trusted: boolean) => {
    const { mcp } = stage(t, { trusted });
    await mcp.ready();
    return ["echo", "stamp", "ring"].map((name) => mcp.toolNamed(`own__${name}`)?.effect);
  };
  assert.deepEqual(await effects(true), ["pure", "keyed", "once"]);
  assert.deepEqual(await effects(false), ["once", "once", "once"]);
});

test("what a call gives: text, data, files, links, complaints; all of it is text from outside", limit, async (t) => {
  const put = async (_content: unknown, { name, mime }: { readonly name: string; readonly mime: string }) =>
    ({ name, mime, blob: "b1", bytes: 4 }) as const;
  const known = stage(t, { trusted: true, blobs: { put } });
  const foreign = stage(t);
  const outside = true;
  for (const { call } of [known, foreign])
    assert.deepEqual(await call("own__echo", { text: "hi" }), { type: "ok", output: "you said hi", outside });
  assert.deepEqual(await known.call("own__data"), { type: "ok", output: '{"degrees":21}', outside });
  assert.deepEqual(await known.call("own__image"), {
    type: "ok",
    output: {
      text: "[image image/png, 4 bytes, kept as file image-1.png]",
      files: [{ name: "image-1.png", mime: "image/png", blob: "b1", bytes: 4 }],
    },
    outside,
  });
  assert.match(JSON.stringify(await foreign.call("own__image")), /not kept/);
  assert.match(JSON.stringify(await known.call("own__resource")), /inside.*example\.com/);
  assert.deepEqual(await known.call("own__fail"), { type: "failed", why: "the disk is on fire", outside });
  assert.match(JSON.stringify(await known.call("own__refuse")), /failed.*no such argument","outside":true/);
  const big = await known.call("own__big");
  assert.ok(big.type === "ok" && String(big.output).length < 401_000 && /\[cut: 4600000 more/.test(String(big.output)));
  assert.match(JSON.stringify(await known.call("own__wrong")), /unknown.*cannot be read/);
});

test("a tool is called before its server has answered, and one that it has not says so", limit, async (t) => {
  const { mcp, call } = stage(t);
  assert.equal(mcp.toolNamed("own__echo")?.effect, "once");
  assert.match(JSON.stringify(await call("own__echo", { text: "early" })), /early/);
  assert.match(JSON.stringify(await call("own__nothing")), /failed.*has no tool own__nothing; it has own__echo/);
  assert.equal(mcp.toolNamed("other__echo"), null);
  assert.equal(mcp.toolNamed("read_file"), null);
});

test("a server sees what it is given and nothing else", limit, async (t) => {
  const { call, folder } = stage(t, { trusted: true });
  const seen = await call("own__env");
  const { env, cwd } = JSON.parse(seen.type === "ok" ? String(seen.output) : "{}") as {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
  };
  // The folder comes from the shell that starts it.
  const { PWD: _, HOME: own, ...given } = env;
  assert.deepEqual(given, { PATH: "/usr/bin:/bin", OWN_KEY: "planted-key-of-the-server" });
  assert.match(own ?? "", /peers\/mcp-own-[0-9a-f]+\/owner\/home$/);
  assert.match(cwd, /attachments\/owner\/mcp-own-[0-9a-f]+$/, "with a secret it does not start in the workspace");
  const command = [process.execPath, join(fakes, "server.ts"), "plain", folder];
  const plain = stage(t, { servers: { own: { command } } });
  assert.match(JSON.stringify(await plain.call("own__env")), new RegExp(`cwd[^,]*${basename(plain.folder)}\\W`));
});

test("calls of strangers and of destroyers are asked for, and bound to their arguments", limit, async (t) => {
  const { mcp } = stage(t);
  // Also before anybody knows what the tool is; and what was allowed then is the same thing later.
  const silent = stage(t, { mode: "hang", pace: { readyMs: 10 } });
  const early = await silent.mcp.toolNamed("own__ring")?.vet?.({ text: "a" }, aVet);
  await mcp.ready();
  assert.deepEqual(early, await mcp.toolNamed("own__ring")?.vet?.({ text: "a" }, aVet));
  assert.ok(early?.type === "approve" && early.subject === "any call of own__ring");
  const known = stage(t, { trusted: true });
  await known.mcp.ready();
  const vet = (name: string, text: string) => known.mcp.toolNamed(name)?.vet?.({ text }, aVet);
  // Only what its author calls harmless: who says nothing may mean anything.
  for (const [name, gives] of [
    ["echo", "run"],
    ["mild", "run"],
    ["stamp", "approve"],
    ["ring", "approve"],
    ["env", "approve"],
  ] as const) {
    assert.equal((await vet(`own__${name}`, "a"))?.type, gives, name);
  }
  const [one, same, other] = [await vet("own__drop", "a"), await vet("own__drop", "a"), await vet("own__drop", "b")];
  assert.ok(one?.type === "approve" && same?.type === "approve" && other?.type === "approve");
  assert.equal(one.bound, same.bound);
  assert.notEqual(one.bound, other.bound);
  assert.equal(one.subject, other.subject);
});

test("progress is told and resets patience, up to a hard limit", limit, async (t) => {
  const told: string[] = [];
  const patient = stage(t, { timeoutSeconds: 5 });
  const tell = (progress: string) => void told.push(progress);
  assert.match(JSON.stringify(await patient.call("own__slow", { text: 4 }, { tell })), /slow is done/);
  // The last one may come together with the result.
  assert.deepEqual(told.slice(0, 3), ["3 left", "2 left", "1 left"]);
  const hasty = stage(t, { timeoutSeconds: 1, pace: { callMaxMs: 1_500 } });
  assert.match(JSON.stringify(await hasty.call("own__slow", { text: 1_000_000 })), /unknown.*did not answer/);
});

test("a call without an answer is unknown after its time, and the server is told", limit, async (t) => {
  const { call, calls } = stage(t, { timeoutSeconds: 0.3 });
  assert.match(JSON.stringify(await call("own__never")), /unknown.*within 0.3 s/);
  await until(() => calls().some((line) => line.startsWith("cancelled")));
});

test("an abort ends the call with its own reason, and the server is told", limit, async (t) => {
  const { mcp, call, calls } = stage(t);
  await mcp.ready();
  const stop = new AbortController();
  const reason = new Error("the user said stop");
  const made = call("own__sleep", {}, { signal: stop.signal });
  await until(() => calls().some((line) => line.startsWith("sleep")));
  stop.abort(reason);
  await assert.rejects(made, reason);
  await until(() => calls().some((line) => line.startsWith("cancelled")));
  // The connection is as good as before.
  assert.match(JSON.stringify(await call("own__echo", { text: "still" })), /still/);
  assert.equal(calls().filter((line) => line === "started").length, 1);
});

test(
  "a death in the middle of a call: once is unknown, pure and keyed are made again under their key",
  limit,
  async (t) => {
    const foreign = stage(t);
    assert.match(
      JSON.stringify(await foreign.call("own__die-once")),
      /unknown.*exit code 7.*not known","outside":true/,
    );
    assert.equal(foreign.calls().filter((line) => line.startsWith("die-once")).length, 1);
    // And it is taken up again for the next call.
    assert.match(JSON.stringify(await foreign.call("own__die-once")), /alive again/);
    for (const name of ["steady-die", "key-die"]) {
      const known = stage(t, { trusted: true });
      await known.mcp.ready();
      assert.match(JSON.stringify(await known.call(`own__${name}`)), /alive again/);
      assert.deepEqual(
        known.calls().filter((line) => line.startsWith(name)),
        [`${name} t1:0:c1`, `${name} t1:0:c1`],
      );
    }
  },
);

test("a server killed between two calls is started again for the next one", limit, async (t) => {
  const { mcp, call, calls } = stage(t, { pace: { retryMinMs: 60_000 } });
  await mcp.ready();
  await call("own__die");
  await until(() => mcp.status()["own"]?.state === "degraded");
  assert.ok(mcp.tools().length > 0, "its tools stay known");
  assert.match(JSON.stringify(await call("own__echo", { text: "back" })), /back/);
  assert.equal(calls().filter((line) => line === "started").length, 2);
});

test("a server that cannot start is left out, named with its last words, and tried again", limit, async (t) => {
  const { mcp, call, calls, log } = stage(t, { mode: "exit" });
  await mcp.ready();
  assert.deepEqual(mcp.tools(), []);
  const { why } = mcp.status()["own"] ?? {};
  assert.match(why ?? "", /exit code 3; its last words: no licence found/);
  assert.match(
    JSON.stringify(await call("own__echo")),
    /failed.*cannot be reached.*no licence found.*was not delivered/,
  );
  await until(() => calls().length >= 4);
  assert.equal(log.filter((line) => line.startsWith("warn")).length, 1, "it is said once");
  const lucky = stage(t, { mode: "exit-first" });
  await lucky.mcp.ready();
  await until(() => lucky.mcp.tools().length > 0);
});

test("a program that does not exist and an address that nobody answers are left out the same way", limit, async (t) => {
  const { mcp, call } = stage(t, {
    servers: { gone: { command: ["/no/such/program"] }, shut: { url: "http://127.0.0.1:9/mcp" } },
  });
  await mcp.ready();
  assert.deepEqual(mcp.tools(), []);
  assert.match(mcp.status()["gone"]?.why ?? "", /cannot be started.*was not found/);
  assert.match(JSON.stringify(await call("shut__x")), /failed.*cannot be reached/);
});

test("a server that hangs keeps nobody waiting, and is given up", limit, async (t) => {
  const { mcp, call } = stage(t, { mode: "hang", pace: { readyMs: 50, connectMs: 2_000, retryMinMs: 60_000 } });
  const begun = performance.now();
  await mcp.ready();
  assert.ok(performance.now() - begun < 1_900);
  assert.equal(mcp.status()["own"]?.state, "starting");
  const made = call("own__echo");
  const again = performance.now();
  for (let i = 0; i < 20; i++) await mcp.ready();
  assert.ok(performance.now() - again < 20 * 50, "who has waited once does not wait again");
  assert.match(JSON.stringify(await made), /failed.*did not answer within 2 s/, "a call has its own patience");
});

test("floods, endless lines and garbage end the connection, and not us", limit, async (t) => {
  for (const [mode, why] of [
    ["flood", /messages in a second/],
    ["garbage", /no messages/],
  ] as const) {
    const { mcp } = stage(t, { mode, pace: { retryMinMs: 60_000 } });
    await mcp.ready();
    await until(() => mcp.status()["own"]?.state === "degraded");
    assert.match(mcp.status()["own"]?.why ?? "", why);
  }
  const { call } = stage(t);
  const before = process.memoryUsage().rss;
  assert.match(JSON.stringify(await call("own__long")), /unknown.*a line of more than 16 MB/);
  assert.ok(process.memoryUsage().rss - before < 300e6);
});

test("noise before the first message, and a flood of complaints, are no reason to fail", limit, async (t) => {
  for (const mode of ["noise", "stderr"]) {
    const { call } = stage(t, { mode });
    assert.match(JSON.stringify(await call("own__echo", { text: mode })), new RegExp(mode));
  }
});

test("a thousand tools are read in pages, and only some are shown; a list without an end has one", limit, async (t) => {
  const many = stage(t, { mode: "many" });
  await many.mcp.ready();
  assert.equal(many.mcp.tools().length, 100);
  assert.equal(many.mcp.status()["own"]?.tools, 1_000);
  assert.match(many.mcp.status()["own"]?.why ?? "", /only the first 100/);
  assert.match(many.mcp.toolNamed("own__tool999")?.description ?? "", /tool999/);
  const loop = stage(t, { mode: "loop" });
  await loop.mcp.ready();
  assert.deepEqual(
    loop.mcp.tools().map((tool) => tool.name),
    ["own__t", "own__tagain"],
  );
  assert.equal(loop.calls().filter((line) => line === "list").length, 2);
  const toolless = stage(t, { mode: "toolless" });
  await toolless.mcp.ready();
  assert.deepEqual(toolless.mcp.status(), { own: aStatus });
});

test("a list that changes is read again, and what is new waits for approval", limit, async (t) => {
  const { mcp, call } = stage(t);
  await call("own__grow");
  await until(() => (mcp.status()["own"]?.changed.length ?? 0) > 0);
  assert.ok(!mcp.tools().some((tool) => tool.name === "own__grown"));
  assert.deepEqual(await mcp.approve("own"), ["grown"]);
  assert.ok(mcp.tools().some((tool) => tool.name === "own__grown"));
});

test("closing ends the servers, also a stubborn one and one that hangs, and nothing starts again", limit, async (t) => {
  for (const mode of ["plain", "stubborn", "hang"]) {
    const { mcp, alive, calls } = stage(t, { mode, pace: { readyMs: mode === "hang" ? 10 : 30_000 } });
    await mcp.ready();
    await until(() => calls().length > 0);
    await mcp.close();
    assert.equal(alive(), 0, mode);
    assert.equal(mcp.status()["own"]?.state, "stopped");
    await assert.rejects(async () => {
      const result = await mcp.toolNamed("own__echo")?.run({}, aContext());
      if (result?.type === "failed") throw new Error(result.why);
    }, /the gateway stops/);
  }
});

test("what waits has limits by itself", () => {
  assert.ok(mcpPace.readyMs <= 2_000 && mcpPace.retryMaxMs === 300_000 && mcpPace.callMaxMs >= mcpPace.callMs);
});
