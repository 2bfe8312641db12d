// What people type, as a table: the command it means, or the sentence that says what is wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readArguments } from "./arguments.ts";
import { helpText } from "./help.ts";
import { commands, usual } from "./table.ts";

function means(line: string): string {
  const typed = readArguments(line === "" ? [] : line.split(" "), { commands, usual });
  switch (typed.type) {
    case "run":
      return [typed.command.words.join(" "), JSON.stringify(typed.flags), ...typed.given].join(" | ");
    case "wrong":
      return `wrong: ${typed.message}`;
    case "help":
      return `help: ${typed.words.join(" ")}`;
    case "version":
      return "version";
  }
}

const cases: readonly (readonly [string, string])[] = [
  ["gateway run", "gateway run | {}"],
  ["gateway run --replace", 'gateway run | {"replace":true}'],
  ["--home /x gateway run", 'gateway run | {"home":"/x"}'],
  ["gateway --home=/x status --json", 'gateway status | {"home":"/x","json":true}'],
  ["sessions", "sessions list | {}"],
  ["sessions list --limit 5", 'sessions list | {"limit":"5"}'],
  ["sessions search two words", "sessions search | {} | two | words"],
  ["send web/local/c1 hello there", "send | {} | web/local/c1 | hello | there"],
  ["send web/local/c1 -- --odd", "send | {} | web/local/c1 | --odd"],
  ["chat --conversation a", 'chat | {"conversation":"a"}'],
  ["backup x.db", "backup | {} | x.db"],
  ["logs -f --lines 3", 'logs | {"follow":true,"lines":"3"}'],
  ["why --boots 3", 'why | {"boots":"3"}'],
  ["why --boots none", 'wrong: --boots takes a whole number from 1 on, not "none".'],
  ["gateway stop now", 'wrong: `gateway stop` does not take "now".'],
  ["gateway strt", "wrong: There is no command `gateway strt`. Did you mean `gateway start`?"],
  ["", "help: "],
  ["--help", "help: "],
  ["-h", "help: "],
  ["help", "help: "],
  ["help turns", "help: turns"],
  ["turns --help", "help: turns"],
  ["turns show --help", "help: turns show"],
  ["gateway --help", "help: gateway"],
  ["--version", "version"],
  ["-v", "version"],
  ["gatway run", "wrong: There is no command `gatway`. Did you mean `gateway`?"],
  ["zzzzzz", "wrong: There is no command `zzzzzz`."],
  ["sessions lst", "wrong: There is no command `sessions lst`. Did you mean `sessions list`?"],
  [
    "gateway",
    "wrong: `gateway` needs one more word: run, start, stop, restart, resume, status, install, uninstall, autostart.",
  ],
  ["gateway run --replce", "wrong: There is no option --replce here. Did you mean `--replace`?"],
  ["gateway run --json", "wrong: There is no option --json here."],
  ["sessions list --limit 0", 'wrong: --limit takes a whole number from 1 on, not "0".'],
  ["sessions list --limit=-3", 'wrong: --limit takes a whole number from 1 on, not "-3".'],
  ["turns list --limit many", 'wrong: --limit takes a whole number from 1 on, not "many".'],
  ["gateway run -x", "wrong: There is no option -x here."],
  ["--hom", "wrong: There is no option --hom here. Did you mean `--home`?"],
  ["--home", "wrong: --home needs a value: --home <folder>."],
  ["turns list --state", "wrong: --state needs a value: --state <state>."],
  ["gateway run --replace=yes", "wrong: --replace takes no value."],
  ["turns show", "wrong: `turns show` needs <turn>."],
  ["send web/local/c1", "wrong: `send` needs <text...>."],
  ["approvals", "approvals list | {}"],
  ["approvals approve q1 --always", 'approvals approve | {"always":true} | q1'],
  ["approvals approve", "wrong: `approvals approve` needs <approval>."],
  ["approvals deny q1", "approvals deny | {} | q1"],
  ["approvals deny q1 not now", "approvals deny | {} | q1 | not | now"],
  ["usage --days 7 --session s", 'usage | {"days":"7","session":"s"}'],
  ["turns show a b", 'wrong: `turns show` does not take "b".'],
];

for (const [line, meaning] of cases) {
  test(`everturn ${line}`, () => assert.equal(means(line), meaning));
}

test("every command has help that names its words, arguments and options", () => {
  const all = helpText([]);
  for (const command of commands) {
    const help = helpText(command.words);
    const usage = [...command.words, ...command.takes.map((one) => (one.startsWith("[") ? one : `<${one}>`))].join(" ");
    assert.ok(help.startsWith(`Usage: everturn ${usage}`), help);
    assert.ok(all.includes(usage));
    for (const name of [...Object.keys(command.options), "help", "home"]) assert.ok(help.includes(`--${name}`), help);
  }
});

test("every command can be loaded", async () => {
  for (const command of commands) assert.equal(typeof (await command.load()), "function", command.words.join(" "));
});
