// What is read from a command line: guesses for questions, and the small grammar that is read completely.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readCommands, readExact, unknown } from "./shell.ts";

test("the programs of a line are found with their words", () => {
  const cases: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["ls -la", ["ls -la"]],
    ["cd a && npm ci; make | tee log", ["cd a", "npm ci", "make", "tee log"]],
    ["A=1 B=2 npm ci", ["npm ci"]],
    ["if true; then rm x; fi", ["true", "rm x", "fi"]],
    [`echo "a b" 'c;d' e\\ f`, ["echo a b c;d e f"]],
    ['echo "$(curl https://a.example)"', ["curl https://a.example", `echo ${unknown}`]],
    ["echo `rm x` # sudo y", ["rm x", `echo ${unknown}`]],
    ["(cd a; ls) > out 2>&1", ["cd a", "ls", ""]],
    ["cat <<EOF >x\nsudo rm -rf /\nEOF\nls", ["cat", "ls"]],
    ["cat <<-'END'\n\tsudo\n\tEND\nls", ["cat", "ls"]],
    ["diff <(curl https://a.example) x", ["diff", "curl https://a.example", "x"]],
    ["a &\nb", ["a", "b"]],
    ["echo '", ["echo "]],
    ["", []],
  ];
  for (const [line, words] of cases)
    assert.deepEqual(
      readCommands(line).map((one) => one.words.join(" ")),
      words,
      line,
    );
});

test("where output goes is found, and whether something is fed in", () => {
  const [one] = readCommands("sort <in >>out 2>err &>all");
  assert.deepEqual(one, { words: ["sort"], isFed: true, outputs: ["out", "err", "all"] });
  assert.deepEqual(
    readCommands("a | b").map(({ isFed }) => isFed),
    [false, true],
  );
});

test("hostile lines cost no time and no stack", () => {
  for (const line of [
    "$(".repeat(50_000),
    "`".repeat(99_999),
    '"$('.repeat(30_000),
    "(".repeat(99_999),
    "<".repeat(99_999),
  ])
    assert.ok(Array.isArray(readCommands(line)));
  assert.deepEqual(readCommands("x".repeat(100_001)), []);
});

test("the exact grammar is words, quotes and pipes, and nothing else", () => {
  assert.deepEqual(readExact("ls -la | grep 'a b' | wc -l"), [
    ["ls", "-la"],
    ["grep", "a b"],
    ["wc", "-l"],
  ]);
  assert.deepEqual(readExact(`date "+%H %M"`), [["date", "+%H %M"]]);
  for (const line of [
    "ls; id",
    "ls && id",
    "ls || id",
    "ls |& id",
    "ls &",
    "ls\nid",
    "ls > x",
    "ls < x",
    "ls $HOME",
    "ls `id`",
    "ls $(id)",
    'ls "$(id)"',
    "ls *",
    "ls ?",
    "ls [a]",
    "ls {a,b}",
    "ls ~",
    "ls \\x",
    "ls !x",
    "ls #x",
    "ls (x)",
    "ls 'x",
    'ls "x',
    "ls | | id",
    "| ls",
    "ls |",
    "ls\tx",
    "ls\u00a0x",
    "ls \0",
    "^a^b",
  ])
    assert.equal(readExact(line), null, JSON.stringify(line));
});
