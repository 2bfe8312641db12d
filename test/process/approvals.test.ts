// Approvals, files and usage by the commands of the real program beside a real gateway.

import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import { type Client, client } from "./client.ts";
import { atEnd, environmentOf, newHome, root, run, runGateway, start, until, within } from "./stage.ts";

type Open = { readonly questions: readonly { readonly id: string }[] };

async function ask(of: Client, chat: string, id: string): Promise<string> {
  await of.send(chat, id, "ask before you act");
  const { questions } = await until(
    () => of.get<Open>("/api/questions"),
    (found) => found.questions.length === 1,
    "it waits for an approval",
  );
  return questions[0]?.id ?? "";
}

const letters = (home: string) =>
  readFileSync(join(home, "workspace", "letters.log"), "utf8")
    .trim()
    .split("\n").length;
const lastOf = (of: Client, chat: string, words: RegExp) =>
  until(
    () => of.transcript(chat),
    (all) => words.test(all.at(-1)?.text ?? ""),
    `${chat} ends with ${words.source}`,
  );

async function everturn(t: TestContext, home: string, ...words: readonly string[]) {
  const { code, out, err } = await run(t, home, words);
  return { code, said: `${out}${err}` };
}

test("approvals are listed, given, refused and taken back by commands, also after a kill", async (t) => {
  const home = newHome(t);
  let gateway = await runGateway(t, home);
  let of = client(gateway);
  const type = (...words: readonly string[]) => everturn(t, home, ...words);
  assert.match((await type("approvals")).said, /Nothing waits for an answer\./);
  assert.match((await type("approvals", "rules")).said, /There are no rules/);
  assert.match((await type("usage")).said, /No model was asked/);

  const first = await ask(of, "c1", "m1");
  await gateway.end("SIGKILL");
  gateway = await runGateway(t, home);
  of = client(gateway);
  const listed = await type("approvals", "list");
  assert.match(listed.said, /approval at web\/local\/c1, until .* \(in /);
  assert.match(listed.said, /post a letter that says: I asked before I acted/);
  assert.match(listed.said, /\[approve \| always \| deny\]/);
  const json = JSON.parse((await type("approvals", "--json")).said) as Open;
  assert.deepEqual(
    json.questions.map((one) => one.id),
    [first],
  );

  const approved = await type("approvals", "approve", first.slice(0, -3));
  assert.deepEqual(approved, { code: 0, said: "Approved, this once. The turn goes on.\n" });
  await lastOf(of, "c1", /^Done: the letter is posted/);
  assert.equal(letters(home), 1);
  assert.match((await type("approvals", "approve", first)).said, /answered so before; nothing changed/);
  const late = await type("approvals", "deny", first);
  assert.equal(late.code, 1);
  assert.match(late.said, /answered already, with "approve"/);
  const none = await type("approvals", "approve", "nonsense");
  assert.equal(none.code, 1);
  assert.match(none.said, /no question nonsense/);

  const second = await ask(of, "c2", "m1");
  assert.match((await type("approvals", "deny", second, "not", "today")).said, /^Denied\./);
  await lastOf(of, "c2", /I did not do it.*not today/s);
  const life = await type("turns", "show", second.replace(/\.q\d+$/, ""));
  assert.match(life.said, /approval asked +1: May I do this with post_letter/);
  assert.match(life.said, /was answered +deny: not today/);

  const third = await ask(of, "c3", "m1");
  assert.match((await type("approvals", "approve", third, "--always")).said, /from now on without asking/);
  await lastOf(of, "c3", /^Done/);
  await of.send("c3", "m2", "ask before you act");
  await until(
    () => letters(home),
    (count) => count === 3,
    "it is not asked again",
  );
  const rules = JSON.parse((await type("approvals", "rules", "--json")).said) as { rules: { id: string }[] };
  const rule = rules.rules[0]?.id ?? "";
  assert.match((await type("approvals", "rules")).said, /post_letter +in effect +web\/local\/c3 .* posting any letter/);
  const general = await type("approvals", "rules", "general", rule.slice(0, -2));
  assert.match(general.said, /^"posting any letter" \(post_letter\) is allowed in every conversation/);
  assert.match((await type("approvals", "rules")).said, /post_letter +in effect +everywhere /);
  await of.send("c5", "m1", "ask before you act");
  await until(
    () => letters(home),
    (count) => count === 4,
    "it is not asked in another conversation",
  );
  assert.match((await type("approvals", "rules", "general", "nonsense")).said, /There is no rule nonsense/);
  assert.match(
    (await type("approvals", "revoke", rule)).said,
    /"posting any letter" \(post_letter\) is no longer allowed/,
  );
  assert.equal((await type("approvals", "revoke", rule)).code, 1);
  await ask(of, "c4", "m1");
  assert.equal(await gateway.end(), 0);
});

test("a rule that a guest made before 0.5.0 is shown and asked again, until the owner makes it general", async (t) => {
  const home = newHome(t);
  await (await runGateway(t, home)).end();
  const db = new DatabaseSync(join(home, "state.db"));
  db.prepare(
    "INSERT INTO rules(id, tool, subject, by, at, scope, held) VALUES ('old', 'post_letter', 'posting any letter', ?, 1, 'everywhere', 1)",
  ).run("7 at telegram/bot/-5");
  db.close();
  const of = client(await runGateway(t, home));
  const question = await ask(of, "c1", "m1");
  const listed = await everturn(t, home, "approvals", "rules");
  assert.match(listed.said, /old +post_letter +made before 0\.5\.0, asked again +everywhere +7 at telegram/);
  await everturn(t, home, "approvals", "deny", question);
  await lastOf(of, "c1", /I did not do it/);
  assert.equal((await everturn(t, home, "approvals", "rules", "general", "old")).code, 0);
  assert.match((await everturn(t, home, "approvals", "rules")).said, /old +post_letter +in effect +everywhere/);
  await of.send("c2", "m1", "ask before you act");
  await lastOf(of, "c2", /^Done/);
});

test("a terminal sends and saves files, and they come along in a backup", async (t) => {
  const home = newHome(t);
  const folder = dirname(home);
  const gateway = await runGateway(t, home);
  writeFileSync(join(folder, "notes one.txt"), "some notes");
  const words = [join(root, "src", "main.ts"), "chat"];
  const chat = start(t, process.execPath, words, { cwd: root, env: environmentOf(home) });
  const lines = [
    `/file "${join(folder, "notes one.txt")}" send it back`,
    `/save 1 ${join(folder, "kept.txt")}`,
    `/file ${join(folder, "none")}`,
    "good bye",
  ];
  chat.child.stdin?.end(`${lines.join("\n")}\n`);
  assert.equal(await within(chat.exit, "the chat did not end"), 1, "one of its lines could not be obeyed");
  assert.match(
    chat.out(),
    /Here you are\.\n\[file\] notes one\.txt, 1 kB; \/save 1 keeps it\nThat is all I was given\./,
  );
  assert.match(chat.err(), /Saved as .*kept\.txt\.\nNot done: There is no file .*none\./);
  assert.match(chat.out(), /You said: good bye/);
  assert.equal(readFileSync(join(folder, "kept.txt"), "utf8"), "some notes");

  const copy = join(folder, "copy.db");
  const made = await everturn(t, home, "backup", copy);
  assert.match(made.said, /copy\.db\.files: 1 file of conversations, 1 kB copied, each checked by its digest\./);
  assert.equal(await gateway.end(), 0);
  rmSync(home, { recursive: true, force: true });
  const aside = join(folder, "aside");
  renameSync(`${copy}.files`, aside);
  const bare = await everturn(t, home, "restore", copy);
  assert.equal(bare.code, 0, bare.said);
  assert.match(bare.said, /Warning: 1 file that the restored messages name is not here: notes one\.txt\./);
  assert.match(bare.said, /copy\.db\.files/);
  renameSync(aside, `${copy}.files`);
  const back = await everturn(t, home, "restore", copy);
  assert.equal(back.code, 0, back.said);
  assert.match(back.said, /copy\.db\.files: 1 file of conversations/);
  assert.doesNotMatch(back.said, /Warning/);
  const next = client(await runGateway(t, home));
  const { files } = (await next
    .get<{ messages: { files?: { blob: string }[] }[] }>("/api/chat/terminal/main/messages")
    .then(({ messages }) => messages.find((one) => one.files !== undefined))) ?? { files: [] };
  const { status } = await next.call(`/api/chat/terminal/main/files/${files?.[0]?.blob}`).catch((error: unknown) => {
    // The content is no JSON, which this client wants everywhere else.
    assert.match(String(error), /some notes/);
    return { status: 200 };
  });
  assert.equal(status, 200);
});

test("a terminal shows a command without its fences, and says that work goes on when it is left", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const open = () => {
    // `script` gives the command a terminal of its own; a quoted word is what its shell understands.
    const words = [
      "--quiet",
      "--flush",
      "--return",
      "--command",
      `stty cols 100 rows 40; '${process.execPath}' src/main.ts chat`,
      "/dev/null",
    ];
    return start(t, "script", words, { cwd: root, env: environmentOf(home) });
  };
  const shows = (chat: ReturnType<typeof open>, words: RegExp) =>
    until(
      () => chat.out(),
      (out) => words.test(out),
      `the terminal shows ${words.source}`,
    );
  const asking = open();
  await shows(asking, /Type a message/);
  asking.child.stdin?.write("ask before you act\r");
  await shows(asking, /3\) deny/);
  assert.match(asking.out(), / {4}post a letter that says/);
  assert.doesNotMatch(asking.out(), /```|button/);
  asking.child.stdin?.write("3\r");
  await shows(asking, /I did not do it/);
  asking.child.stdin?.write("\u0003");
  assert.equal(await within(asking.exit, "the chat did not end"), 0);
  assert.doesNotMatch(asking.out(), /goes on/);

  const left = open();
  await shows(left, /Type a message/);
  left.child.stdin?.write("count to 500 slowly\r");
  await shows(left, /1, 2/);
  left.child.stdin?.write("\u0003");
  assert.equal(await within(left.exit, "the chat did not end"), 0);
  assert.match(left.out(), /The turn goes on; open `everturn chat` again to see its answer\./);
  assert.equal(await gateway.end(), 0);
});

test("commands that run are listed and ended without a gateway", async (t) => {
  const home = newHome(t);
  const type = (...words: readonly string[]) => everturn(t, home, ...words);
  assert.match((await type("jobs")).said, /^No command runs\.\n$/);
  const jobs = openJobs({ folder: join(home, "jobs") });
  const spec = {
    place: "web/local/c1",
    program: process.execPath,
    words: ["-e", "setInterval(() => {}, 1000)"],
    cwd: dirname(home),
    env: {},
    limitMs: 3_600_000,
    background: true,
  };
  const one = await jobs.start({ ...spec, key: "k1", title: "serve the\n\u202Epage" });
  const other = await jobs.start({ ...spec, key: "k2", title: "make", background: false });
  atEnd(t, () => jobs.endAll("the test is over"));
  const listed = (await type("jobs", "list")).said;
  assert.match(listed, /\d+ min left +background +web\/local\/c1 +serve the\\u\{a\}\\u\{202e\}page/);
  assert.match(listed, /turn waits +web\/local\/c1 +make/);
  const json = JSON.parse((await type("jobs", "--json")).said) as { jobs: { id: string; background: boolean }[] };
  assert.deepEqual(json.jobs.map((job) => job.id).toSorted(), [one.id, other.id].toSorted());

  assert.deepEqual(await type("jobs", "kill", one.id.slice(0, 8)), {
    code: 0,
    said: "Ended: serve the\\u{a}\\u{202e}page\n",
  });
  const state = await jobs.state(one.id);
  assert.deepEqual(state.type === "ended" && [state.end.how, state.end.why], ["killed", "its owner ended it"]);
  const again = await type("jobs", "kill", one.id);
  assert.equal(again.code, 1);
  assert.match(again.said, /has ended already/);
  assert.match((await type("jobs", "kill", "nonsense")).said, /no job nonsense that runs/);
  assert.equal((await jobs.state(other.id)).type, "running");
});
