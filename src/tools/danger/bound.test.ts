// Which scripts a command runs, and that a digest changes with whatever would change what happens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { boundTo, canonical } from "./bound.ts";
import { scriptOf, scriptsOf } from "./script.ts";

const cases: readonly (readonly [string, readonly string[]])[] = [
  ["./x.sh", ["/w/x.sh"]],
  ["./x.sh a b", ["/w/x.sh"]],
  ["bash x.sh", ["/w/x.sh"]],
  ["bash -e x.sh a", ["/w/x.sh"]],
  ["sh ./sub/x.sh", ["/w/sub/x.sh"]],
  ["python x.py", ["/w/x.py"]],
  ["python3 -u x.py --flag", ["/w/x.py"]],
  ["node x.js", ["/w/x.js"]],
  ["node --import ./y.js x.js", ["/w/y.js", "/w/x.js"]],
  ["perl x.pl", ["/w/x.pl"]],
  [". ./x.sh", ["/w/x.sh"]],
  ["source x.sh", ["/w/x.sh"]],
  ["env FOO=1 ./x.sh", ["/w/x.sh"]],
  ["FOO=1 ./x.sh", ["/w/x.sh"]],
  ["timeout 5 ./x.sh", ["/w/x.sh"]],
  ["nohup bash x.sh &", ["/w/x.sh"]],
  ["sudo -u root ./x.sh", ["/w/x.sh"]],
  ["bash -c './x.sh && ./y.sh'", ["/w/x.sh", "/w/y.sh"]],
  ["cd sub && ./x.sh", ["/w/sub/x.sh"]],
  ["(cd sub && ./x.sh); ./y.sh", ["/w/sub/x.sh", "/w/y.sh"]],
  ["echo $(./x.sh)", ["/w/x.sh"]],
  ["ls; ./x.sh | grep y", ["/w/x.sh"]],
  ["$PWD/x.sh", ["/w/x.sh"]],
  ["/opt/tool/run", ["/opt/tool/run"]],
  ["make", ["/w/Makefile", "/w/makefile", "/w/GNUmakefile"]],
  ["make -C sub all", ["/w/sub/Makefile", "/w/sub/makefile", "/w/sub/GNUmakefile"]],
  ["make -f other.mk", ["/w/other.mk"]],
  ["npm run build", ["/w/package.json"]],
  ["npm test", ["/w/package.json"]],
  ["npm --prefix sub run x", ["/w/sub/package.json"]],
  ["psql -f x.sql", ["/w/x.sql"]],
  ["python3 -u tool.py other.py data.csv", ["/w/tool.py", "/w/other.py"]],
  ["cat x.txt | node run.mjs", ["/w/run.mjs"]],
  ["awk -f x.awk y", ["/w/x.awk"]],
  ["sh 'my script.sh'", ["/w/my script.sh"]],
  ["/usr/bin/env python3 x.py", ["/w/x.py"]],
  [". ./env.sh && make all", ["/w/env.sh", "/w/Makefile", "/w/makefile", "/w/GNUmakefile"]],
  ["python3 -c 'print(1)'", []],
  ["node -e '1'", []],
  ["python -m http.server", []],
  ["ls -la", []],
  ["/bin/ls", []],
  ["/usr/bin/env ./x.sh", ["/w/x.sh"]],
  ["echo ./x.sh", []],
  ["echo 'unclosed", []],
  ["$X", []],
];

test("the scripts that a command would run", () => {
  for (const [command, files] of cases) assert.deepEqual(scriptsOf(command, "/w"), files, command);
  assert.equal(scriptOf("bash x.sh", "/w/"), "/w/x.sh");
  assert.equal(scriptOf("ls", "/w"), null);
  assert.deepEqual(scriptsOf("~/x.sh", "/w", "/home/ann"), ["/home/ann/x.sh"]);
});

test("the same value has the same text, in whatever order it was written", () => {
  assert.equal(canonical({ b: [1, { d: null, c: "x" }], a: undefined }), '{"b":[1,{"c":"x","d":null}]}');
  assert.equal(boundTo({ input: { a: 1, b: 2 } }), boundTo({ input: { b: 2, a: 1 } }));
  assert.match(boundTo({ input: null }), /^[0-9a-f]{64}$/);
});

test("a digest changes with each part", () => {
  const first = { input: { command: "./x.sh" }, cwd: "/w", sandbox: "bwrap", scripts: { "/w/x.sh": "aa" } };
  const others = [
    { ...first, input: { command: "./x.sh " } },
    { ...first, cwd: "/w2" },
    { ...first, sandbox: "off" },
    { ...first, scripts: { "/w/x.sh": "ab" } },
    { ...first, scripts: {} },
  ];
  assert.equal(new Set([first, ...others].map(boundTo)).size, others.length + 1);
});
