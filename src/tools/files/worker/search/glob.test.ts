import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { globPattern } from "./glob.ts";

describe("a glob", () => {
  const cases: readonly (readonly [glob: string, fits: string, not: string])[] = [
    ["*.ts", "a.ts src/a.ts src/b/c.d.ts", "a.tsx ats src/a.ts/x"],
    ["a?c", "abc x/aüc", "ac abbc"],
    ["src/*.ts", "src/a.ts", "a.ts src/b/a.ts x/src/a.ts"],
    ["src/**/*.ts", "src/a.ts src/b/a.ts src/b/c/a.ts", "a.ts srcs/a.ts src/a.js"],
    ["**/test/*.js", "test/a.js a/b/test/c.js", "test/a/b.js tests/a.js"],
    ["src/**", "src/a src/a/b.c", "srcs/a"],
    ["*.{ts,js}", "a.ts b/a.js", "a.tjs a.css"],
    ["{src,test}/*.md", "src/a.md test/b.md", "docs/a.md"],
    ["[ab].c", "a.c x/b.c", "c.c ab.c"],
    ["[!ab].c", "c.c", "a.c b.c"],
    ["[a-c]x", "ax bx", "dx -x"],
    ["./a/*.b", "a/c.b", "c.b"],
    ["/a/*.b", "a/c.b", "c.b"],
    ["a+b(1).txt", "a+b(1).txt", "aab1.txt"],
    ["*", "a b/c .d", ""],
    ["a,b", "a,b", "a b"],
    ["a}b]", "a}b]", "ab"],
    [".*", ".env a/.git", "env"],
    ["🙂?", "🙂🙃", "🙂"],
  ];
  for (const [glob, fits, not] of cases) {
    test(glob, () => {
      const pattern = globPattern(glob);
      for (const name of fits.split(" ")) assert.ok(pattern.test(name), `${name} fits, by ${String(pattern)}`);
      for (const name of not.split(" ").filter(Boolean))
        assert.ok(!pattern.test(name), `${name} does not, by ${String(pattern)}`);
    });
  }

  for (const wrong of ["{a,b", "[z-a]", "x".repeat(600)]) {
    test(`cannot be ${wrong.slice(0, 10)}`, () => assert.throws(() => globPattern(wrong), { name: "Fault" }));
  }
});
