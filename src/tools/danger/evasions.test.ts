// Random compositions: innocent commands stay plain however they are put together, and a dangerous one is found wherever it
// is hidden. A failure names its seed, which makes the same composition again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeCommand } from "./command.ts";
import type { CommandPlaces } from "./judgement.ts";

const places: CommandPlaces = {
  workspace: "/home/ann/.everturn/workspace",
  home: "/home/ann/.everturn",
  userHome: "/home/ann",
  cwd: "/home/ann/.everturn/workspace",
};

/** The same numbers each time. */
function numbers(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const innocent = [
  "ls -la",
  "cat README.md",
  "echo 'rm -rf /'",
  'echo "sudo $USER"',
  "grep -rn sudo src",
  "git status",
  "git commit -m 'push --force'",
  "echo x > a.txt",
  "mkdir -p a/b",
  "cp a b",
  "wc -l a.txt",
  "sed -n 1,5p a.txt",
  "awk '{ print $1 }' a.txt",
  "date +%F",
  "true",
  "find . -name '*.ts'",
  "test -f a.txt",
  "jq .a b.json",
  "sort a.txt",
  "FOO=1 ls",
  "tar tzf a.tgz",
];

type Hide = (command: string, pick: (below: number) => number) => string;
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Ways to put a command into a larger one without changing what it is. */
const around: readonly Hide[] = [
  (command) => `( ${command} )`,
  (command) => `{ ${command}; }`,
  (command) => `if true; then ${command}; fi`,
  (command) => `for i in 1 2; do ${command}; done`,
  (command) => `while false; do ${command}; done`,
  (command) => `bash -c ${quoted(command)}`,
  (command) => `sh -c ${quoted(command)}`,
  (command) => `eval ${quoted(command)}`,
  (command) => `echo "$(${command})"`,
  (command) => `x=$(${command})`,
  (command) => `cat <(${command})`,
  (command) => `f${command.length}() { ${command}; }; f${command.length}`,
  (command) => `case a in a) ${command};; esac`,
  (command) => `! ${command}`,
  (command) => `time ${command}`,
  (command) => `cat <<EOF\n$(${command})\nEOF`,
  (command) => `bash <<'EOF'\n${command}\nEOF`,
  (command) => `trap ${quoted(command)} EXIT`,
  (command) => `[[ -n "$(${command})" ]] && ls`,
  (command) => `echo $(( $(${command}) + 1 ))`,
  (command) => `echo \${y:-$(${command})}`,
  (command) => `true && ${command}`,
  (command) => `${command} # said\n`,
  (command) => `\n\n${command}\n`,
  (command) => `bash -c ${quoted(`bash -c ${quoted(command)}`)}`,
];

const joints = [" ; ", " && ", " || ", " | ", " & ", "\n", ";\n"];

function beside(command: string, pick: (below: number) => number): string {
  const other = innocent[pick(innocent.length)] ?? "ls";
  const joint = joints[pick(joints.length)] ?? " ; ";
  // A text that begins after a line break ends with one, so nothing may follow on its last line.
  return pick(2) === 0
    ? `${other}${joint}${command}`
    : `${command}${command.includes("EOF") || command.includes("#") ? "\n" : joint}${other}`;
}

/** Programs whose words say that they are dangerous, without signs of the shell in their names. */
const dangerous: readonly (readonly [name: string, rest: string])[] = [
  ["rm", "-rf build"],
  ["rm", "-rf /"],
  ["sudo", "ls"],
  ["shred", "a.txt"],
  ["cat", "~/.ssh/id_rsa"],
  ["cat", "../control.token"],
  ["git", "push --force"],
  ["git", "reset --hard"],
  ["npm", "install"],
  ["chmod", "-R 777 ."],
  ["kill", "17"],
  ["ssh", "ann@example.org"],
  ["curl", "-d @a.txt https://example.org/"],
  ["cp", "a.txt /tmp/b"],
  ["dd", "if=a of=b"],
  ["mkfs.ext4", "/dev/sda1"],
  ["shutdown", "now"],
  ["docker", "run --privileged x"],
  ["printenv", ""],
];

/** Ways to write a name that a shell reads as the same name. */
const names: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `\\${name}`,
  (name) => `${name.slice(0, 1)}''${name.slice(1)}`,
  (name) => `${name.slice(0, 1)}""${name.slice(1)}`,
  (name) => `${name.slice(0, 1)}\\${name.slice(1)}`,
  (name) => `'${name}'`,
  (name) => `"${name.slice(0, 1)}"${name.slice(1)}`,
  (name) => `/bin/${name}`,
  (name) => `/usr/bin/${name}`,
  (name) => `$'${[...name].map((sign) => `\\x${sign.charCodeAt(0).toString(16)}`).join("")}'`,
  (name) => `${name.slice(0, 1)}\\\n${name.slice(1)}`,
  (name) => `env ${name}`,
  (name) => `env -i A=1 ${name}`,
  (name) => `A=1 B='x y' ${name}`,
  (name) => `nohup ${name}`,
  (name) => `timeout -k 1 5 ${name}`,
  (name) => `nice -n 5 ${name}`,
  (name) => `command ${name}`,
  (name) => `stdbuf -oL ${name}`,
  (name) => `/usr/bin/env ${name}`,
  (name) => `time -p ${name}`,
  (name) => `N=${name}; $N`,
  (name) => `$(echo ${name})`,
  (name) => `exec ${name}`,
  (name) => `busybox ${name}`,
];

test("innocent commands stay plain, however they are put together", () => {
  for (let seed = 1; seed <= 1_500; seed++) {
    const pick = numbers(seed);
    let command = innocent[pick(innocent.length)] ?? "ls";
    for (let left = 1 + pick(4); left > 0; left--) {
      const hide = around[pick(around.length)] ?? beside;
      command = pick(2) === 0 ? beside(command, pick) : hide(command, pick);
      if (command.includes("EOF")) break;
    }
    const judgement = judgeCommand(command, places);
    assert.equal(judgement.level, "plain", `seed ${seed}: ${command}\n${JSON.stringify(judgement)}`);
  }
});

test("a dangerous command is found wherever it is hidden", () => {
  for (let seed = 1; seed <= 4_000; seed++) {
    const pick = numbers(seed);
    const [name, rest] = dangerous[pick(dangerous.length)] ?? ["rm", "-rf /"];
    let command = `${names[pick(names.length)]?.(name) ?? name} ${rest}`;
    for (let left = pick(4); left > 0; left--) {
      const hide = around[pick(around.length)] ?? beside;
      command = pick(3) === 0 ? beside(command, pick) : hide(command, pick);
      if (command.includes("EOF")) break;
    }
    const judgement = judgeCommand(command, places);
    assert.notEqual(judgement.level, "plain", `seed ${seed}: ${command}`);
  }
});

test("every way to hide a command finds what is forbidden", () => {
  for (const hide of around)
    for (const write of names.filter((one) => !one("rm").startsWith("$(")))
      for (const target of ["/", "~", "$HOME/*"]) {
        const command = hide(`${write("rm")} -rf ${target}`, () => 0);
        assert.equal(judgeCommand(command, places).level, "forbidden", command);
      }
});

test("whatever is given, there is an answer", () => {
  const signs = [
    "'",
    '"',
    "`",
    "$",
    "(",
    ")",
    "{",
    "}",
    "|",
    "&",
    ";",
    "<",
    ">",
    "\\",
    "\n",
    " ",
    "#",
    "a",
    "rm",
    "<<E",
    "[[",
    "in",
    "case",
    "for",
    "~",
    "*",
    "!",
    "=",
    "é",
    "😀",
    "\ud800",
  ];
  for (let seed = 1; seed <= 3_000; seed++) {
    const pick = numbers(seed);
    const command = Array.from({ length: 1 + pick(24) }, () => signs[pick(signs.length)]).join("");
    assert.ok(["plain", "dangerous", "forbidden"].includes(judgeCommand(command, places).level), command);
  }
});

test("a long or deep command costs no more than its length, or is not judged", () => {
  const deep = `${"$(".repeat(5_000)}ls${")".repeat(5_000)}`;
  assert.equal(judgeCommand(deep, places).level, "dangerous");
  assert.equal(judgeCommand(`${"( ".repeat(10_000)}ls${")".repeat(10_000)}`, places).level, "dangerous");
  assert.equal(judgeCommand(`${"{ ".repeat(10_000)}ls${"; }".repeat(10_000)}`, places).level, "dangerous");
  assert.equal(judgeCommand("{a,b}".repeat(40), places).level, "dangerous");
  assert.equal(judgeCommand(`echo ${"x ".repeat(200_000)}`, places).level, "dangerous");
  assert.equal(
    judgeCommand(`cat > notes.txt <<'EOF'\n${"some text of a file\n".repeat(4_000)}EOF`, places).level,
    "plain",
  );
  assert.equal(judgeCommand("echo a; ".repeat(5_000), places).level, "plain");
  assert.equal(judgeCommand("cd a; ".repeat(10_000), places).level, "plain");
  assert.equal(judgeCommand(Array.from({ length: 8_000 }, (_, i) => `a=${i}`).join(";"), places).level, "plain");
  assert.equal(judgeCommand(`docker run ${"x ".repeat(10_000)}`, places).level, "dangerous");
});
