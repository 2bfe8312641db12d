// Questions, rules and usage over real HTTP.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { bearer, session, started, turn } from "../samples.ts";

type Answer = { readonly status: number; readonly body: unknown };

async function opened(t: TestContext) {
  const { control, gateway } = await started(t);
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${control.url}/api${path}`, { ...init, ...bearer() });
    return { status: response.status, body: await response.json() };
  };
  const post = (path: string, body: unknown) => ask(path, { method: "POST", body: JSON.stringify(body) });
  return { gateway, get: (path: string) => ask(path), post };
}

function why(answer: Answer): string {
  return (answer.body as { error: { message: string } }).error.message;
}

test("what waits for an answer is listed with all that is needed to give it", async (t) => {
  const { get } = await opened(t);
  assert.deepEqual(await get("/questions"), {
    status: 200,
    body: {
      questions: [
        {
          id: "q1",
          kind: "approval",
          text: "May I?",
          choices: ["approve", "always", "deny"],
          turn: turn.id,
          session: session.id,
          address: "web/local/c1",
          until: 90_000,
        },
      ],
    },
  });
});

test("what became of a question is told by its name", async (t) => {
  const { get } = await opened(t);
  const { body } = await get(`/questions/${turn.id}.q1`);
  assert.partialDeepStrictEqual(body, { id: "t1.q1", fate: { type: "answered", choice: "deny", at: 2_800 } });
  for (const id of ["t1.q9", "t2.q1", "nonsense"]) assert.equal((await get(`/questions/${id}`)).status, 404, id);
});

test("an answer reaches the gateway; one that is too late or meant for nothing is refused with why", async (t) => {
  const { gateway, post } = await opened(t);
  assert.deepEqual(await post("/questions/q1/answer", { choice: "always" }), {
    status: 200,
    body: { status: "answered" },
  });
  const late = await post("/questions/q2/answer", { choice: "approve" });
  assert.deepEqual([late.status, why(late)], [409, "It was answered with deny already."]);
  assert.equal((await post("/questions/none/answer", { choice: "approve" })).status, 404);
  assert.deepEqual(gateway.asked.slice(0, 1), [["answer", "q1", "always"]]);
  const before = gateway.asked.length;
  for (const body of [{}, { choice: 1 }, { choice: "  " }, []])
    assert.equal((await post("/questions/q1/answer", body)).status, 400, JSON.stringify(body));
  assert.equal((await post("/questions/q1/answer", { choice: "x".repeat(2_000_001) })).status, 413);
  assert.equal(gateway.asked.length, before, "nothing of that reached it");
});

test("rules are listed and revoked", async (t) => {
  const { gateway, get, post } = await opened(t);
  assert.deepEqual((await get("/rules")).body, {
    rules: [{ id: "r1", tool: "terminal", subject: "git push", by: "owner", at: 5, scope: "everywhere" }],
  });
  assert.deepEqual((await post("/rules/r1/revoke", {})).body, { done: true });
  assert.deepEqual((await post("/rules/r1/general", {})).body, { done: true });
  assert.deepEqual(gateway.asked, [
    ["revoke", "r1"],
    ["generalize", "r1"],
  ]);
});

test("MCP servers are listed with what changed, and approved by name", async (t) => {
  const { get, post } = await opened(t);
  const { servers } = (await get("/mcp")).body as { servers: readonly { name: string; changed: unknown }[] };
  assert.deepEqual(
    servers.map(({ name, changed }) => [name, changed]),
    [["github", [{ tool: "drop", text: "Before: a\nNow: b" }]]],
  );
  assert.deepEqual(((await get("/status")).body as { servers: unknown }).servers, servers);
  assert.deepEqual((await post("/mcp/github/approve", {})).body, { server: "github", approved: ["drop"] });
  assert.equal((await post("/mcp/other/approve", {})).status, 404);
});

test("usage by day and model, all of it or of some days, with its sum", async (t) => {
  const { get } = await opened(t);
  const days = async (query: string) => {
    const { body } = await get(`/usage${query}`);
    const { lines, total } = body as { lines: { day: string }[]; total: unknown };
    return { days: lines.map((one) => one.day), total };
  };
  assert.deepEqual(await days(""), {
    days: ["1970-01-01", "1969-12-31"],
    total: { steps: 4, input: 200, cached: 80, output: 40, cost: 1_500_000, unpriced: 2 },
  });
  assert.deepEqual((await days("?days=1")).days, ["1970-01-01"]);
  assert.deepEqual((await days("?days=2")).days, ["1970-01-01", "1969-12-31"]);
  assert.deepEqual((await days("?days=999999999999999")).days, ["1970-01-01", "1969-12-31"]);
  assert.equal((await get("/usage?days=x")).status, 400);
  assert.equal((await get("/usage?session=none")).status, 404);
  assert.equal((await get(`/usage?session=${session.id}`)).status, 200);
});

test("a session tells its model and what it used, a turn what its steps used", async (t) => {
  const { get } = await opened(t);
  const shown = (await get(`/sessions/${session.id}`)).body as { session: object; used: object };
  assert.partialDeepStrictEqual(shown, { session: { model: null }, used: { models: ["a/x", "b/y"] } });
  const life = (await get(`/turns/${turn.id}`)).body as { used: unknown };
  assert.deepEqual(life.used, { steps: 1, input: 7, cached: 3, output: 2, cost: 9, unpriced: 0 });
});
