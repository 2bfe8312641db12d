// How browsers get in, with the real program: where a link is printed and where not, and devices from the command line.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { environmentOf, newHome, root, run, runGateway, start, whenReady } from "./stage.ts";

async function signIn(url: string, link: string): Promise<{ readonly status: number; readonly credential: string }> {
  const body = JSON.stringify({ link: new URL(link).hash.replace("#link=", "") });
  const answer = await fetch(`${url}/api/sign-in`, { method: "POST", body });
  const { credential = "" } = (await answer.json()) as { readonly credential?: string };
  return { status: answer.status, credential };
}

function logged(home: string): string {
  const folder = join(home, "logs");
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

test("a pipe gets no link unless it asks for one; a link and a credential outlive a kill; devices are revoked", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  assert.doesNotMatch(first.out() + first.err(), /#link=|token=/);
  const refused = await run(t, home, ["link"]);
  assert.deepEqual([refused.code, refused.out], [1, ""]);
  assert.match(refused.err, /ssh -t.*--print/);
  const [one = "", two = ""] = (await Promise.all([1, 2].map(() => run(t, home, ["link", "--print"])))).map(({ out }) =>
    out.trim(),
  );
  const { credential } = await signIn(first.url, one);
  await first.end("SIGKILL");

  const second = await runGateway(t, home);
  assert.equal((await signIn(second.url, one)).status, 410, "it was used before the kill");
  const other = await signIn(second.url, two);
  assert.equal(other.status, 200, "it was not");
  const status = async (held: string) =>
    (await fetch(`${second.url}/api/status`, { headers: { authorization: `Bearer ${held}` } })).status;
  assert.deepEqual([await status(credential), await status(other.credential)], [200, 200]);

  const listed = await run(t, home, ["devices", "--json"]);
  const { devices } = JSON.parse(listed.out) as { readonly devices: readonly { readonly id: string }[] };
  assert.equal(devices.length, 2);
  assert.match((await run(t, home, ["devices", "list"])).out, new RegExp(`${devices[0]?.id}`));
  assert.equal((await run(t, home, ["devices", "revoke"])).code, 1, "which one?");
  assert.equal((await run(t, home, ["devices", "revoke", devices[0]?.id ?? ""])).out, "1 browser was signed out.\n");
  assert.deepEqual([await status(credential), await status(other.credential)], [401, 200]);
  assert.equal((await run(t, home, ["devices", "revoke", "none"])).code, 1);
  const all = await run(t, home, ["devices", "revoke", "--all", "--json"]);
  assert.deepEqual(JSON.parse(all.out), { revoked: 1 });
  assert.equal(await status(other.credential), 401);

  await second.end();
  for (const secret of [
    credential,
    other.credential,
    one.split("=")[1] ?? "?",
    two.split("=")[1] ?? "?",
    second.token,
  ]) {
    assert.ok(!logged(home).includes(secret), "no secret is in a log");
    assert.ok(!readFileSync(join(home, "state.db")).includes(secret), "nor in the store");
  }
});

test("a terminal is shown a link that works once; its log is not", async (t) => {
  const home = newHome(t);
  const words = [
    "--quiet",
    "--flush",
    "--return",
    "--command",
    `'${process.execPath}' src/main.ts gateway run`,
    "/dev/null",
  ];
  const terminal = await whenReady(start(t, "script", words, { cwd: root, env: environmentOf(home) }));
  const link = /http:\S+#link=[\w-]+/.exec(terminal.out())?.[0] ?? assert.fail(terminal.out());
  assert.ok(!terminal.out().includes(terminal.token), "the control token is never printed");
  assert.equal((await signIn(terminal.url, link)).status, 200);
  assert.equal((await signIn(terminal.url, link)).status, 410);
  assert.doesNotMatch(logged(home), /#link=/);
});
