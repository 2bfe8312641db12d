// Fifty everyday requests with a sandbox and default settings, through the real tools: at most eight ask, and what runs
// works. What needs the internet, or a program that is not installed here, counts by its verdict alone.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import { noGrant } from "../../src/core/grant.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import type { Archive } from "../../src/ports/store.ts";
import type { Tool } from "../../src/ports/tool.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { aToolContext } from "../../src/testing/samples.ts";
import { builtinTools } from "../../src/tools/index.ts";
import { terminalTools } from "../../src/tools/terminal/index.ts";
import { aVet, makeRoom, withoutSandbox } from "../fakes/room.ts";
import { atEnd } from "../process/stage.ts";

const asksMax = 8;

type Call = { readonly tool: string; readonly input: unknown };
type Request = {
  readonly name: string;
  readonly calls: readonly Call[];
  /** Programs that must be there for the calls to be run. */
  readonly needs?: string;
  /** What the last output matches. */
  readonly shows?: RegExp;
  /** Only the verdict counts: it needs the internet. */
  readonly isOnline?: true;
  readonly isRefused?: true;
};

const sh = (command: string, more: object = {}): Call => ({ tool: "terminal", input: { command, ...more } });
const write = (path: string, content: string): Call => ({ tool: "write_file", input: { path, content } });
const edit = (path: string, oldText: string, newText: string): Call => ({
  tool: "edit_file",
  input: { path, oldText, newText },
});
const url = (address: string): Call => ({ tool: "fetch_url", input: { url: address } });

const python = "import csv, json; print(json.dumps(list(csv.DictReader(open('a.csv')))))";
const png =
  "import struct,zlib;d=b''.join(b'\\0'+bytes([i*20]*10) for i in range(10));c=lambda t,b:struct.pack('>I',len(b))+t+b+struct.pack('>I',zlib.crc32(t+b));open('c.png','wb').write(b'\\x89PNG\\r\\n\\x1a\\n'+c(b'IHDR',struct.pack('>IIBBBBB',10,10,8,0,0,0,0))+c(b'IDAT',zlib.compress(d))+c(b'IEND',b''))";

/** `outside`: a folder of the user beside the workspace. */
function requests(outside: string): readonly Request[] {
  return [
    { name: "list files", calls: [sh("ls -la")], shows: /exit code 0/ },
    {
      name: "show a file",
      calls: [write("a.txt", "one\ntwo\n"), { tool: "read_file", input: { path: "a.txt" } }],
      shows: /one/,
    },
    {
      name: "search a word in a folder",
      calls: [{ tool: "search_files", input: { pattern: "two" } }],
      shows: /a\.txt:2/,
    },
    { name: "create a file", calls: [write("b.txt", "b\n")] },
    {
      name: "edit three files",
      calls: [edit("a.txt", "one", "1"), edit("b.txt", "b", "c"), edit("a.txt", "two", "2")],
    },
    { name: "rename and delete files", calls: [sh("mv b.txt c.txt && rm -rf c.txt && ls")], shows: /exit code 0/ },
    {
      name: "zip and unzip",
      calls: [sh("zip -q a.zip a.txt && unzip -o -d out a.zip")],
      needs: "zip unzip",
      shows: /exit code 0/,
    },
    {
      name: "convert CSV to JSON",
      calls: [write("a.csv", "x,y\n1,2\n"), sh(`python3 -c "${python}"`)],
      needs: "python3",
      shows: /"x": "1"/,
    },
    {
      name: "count lines by language",
      calls: [sh("find . -name '*.txt' -print0 | xargs -0 wc -l")],
      shows: /exit code 0/,
    },
    {
      name: "sort and de-duplicate a list",
      calls: [sh("printf 'b\\na\\nb\\n' | sort -u > list && cat list")],
      shows: /a\nb/,
    },
    {
      name: "draw a chart to PNG",
      calls: [sh(`python3 -c "${png.replaceAll("\\", "\\\\")}" && ls c.png`)],
      needs: "python3",
      shows: /c\.png/,
    },
    { name: "resize an image", calls: [sh("convert c.png -resize 50% d.png && ls d.png")], needs: "convert python3" },
    { name: "extract text from a PDF", calls: [sh("pdftotext x.pdf - | head")], needs: "pdftotext" },
    {
      name: "git init, add, commit",
      calls: [sh("git init -q . && git add a.txt && git commit -qm first && git log --oneline")],
      needs: "git",
      shows: /first/,
    },
    { name: "git log and diff", calls: [sh("git log -3 && git diff HEAD")], needs: "git", shows: /exit code 0/ },
    {
      name: "git branch and merge",
      calls: [sh("git checkout -qb x && git commit -q --allow-empty -m two && git checkout -q - && git merge x")],
      needs: "git",
      shows: /exit code 0/,
    },
    {
      name: "git stash",
      calls: [sh("echo more >> a.txt && git stash && git stash pop")],
      needs: "git",
      shows: /exit code 0/,
    },
    {
      name: "npm test without dependencies",
      calls: [
        write("package.json", '{"name":"p","version":"1.0.0","scripts":{"test":"node t.js","build":"node t.js"}}'),
        write("t.js", "console.log('tested')"),
        sh("npm test"),
      ],
      needs: "npm node",
      shows: /tested/,
    },
    { name: "npm ci", calls: [sh("npm ci")], isOnline: true },
    { name: "npm run build", calls: [sh("npm run build")], needs: "npm node", shows: /tested/ },
    { name: "run a Node script", calls: [sh("node t.js")], needs: "node", shows: /tested/ },
    {
      name: "run a Python script",
      calls: [write("t.py", "print('py')"), sh("python3 t.py")],
      needs: "python3",
      shows: /py/,
    },
    {
      name: "make a virtual environment",
      calls: [sh("python3 -m venv --without-pip .venv && ls .venv")],
      needs: "python3",
      shows: /bin/,
    },
    { name: "pip install", calls: [sh(".venv/bin/pip install requests")], isOnline: true },
    { name: "run pytest", calls: [sh("python3 -m pytest -q || true")], needs: "python3" },
    { name: "go build and test offline", calls: [sh("go build ./... && go test ./...")], needs: "go" },
    {
      name: "compile C with make",
      calls: [
        write("Makefile", "m: m.c\n\tcc -o m m.c\n"),
        write("m.c", '#include <stdio.h>\nint main(){puts("made");}\n'),
        sh("make && ./m"),
      ],
      needs: "make cc",
      shows: /made/,
    },
    { name: "run a shell script", calls: [write("s.sh", "echo script\n"), sh("sh s.sh")], shows: /script/ },
    {
      name: "a server: run, curl, stop",
      calls: [
        write("srv.js", "require('http').createServer((q,r)=>r.end('served')).listen(8123)"),
        sh("node srv.js & sleep 2; curl -s http://127.0.0.1:8123/; kill %1"),
      ],
      needs: "node curl",
      shows: /served/,
    },
    { name: "follow a log", calls: [sh("(sleep 1; echo line >> log) & timeout 3 tail -f log || true")] },
    {
      name: "sqlite query",
      calls: [sh("sqlite3 x.db 'create table t(a); insert into t values(7); select a from t'")],
      needs: "sqlite3",
      shows: /7/,
    },
    { name: "jq over a file", calls: [sh("jq -r .name package.json")], needs: "jq", shows: /p/ },
    { name: "date, uptime, df", calls: [sh("date; uptime; df -h")] },
    { name: "show environment", calls: [sh("env")], shows: /HOME=/ },
    { name: "calculate with bc", calls: [sh("echo '2^10' | bc")], needs: "bc", shows: /1024/ },
    {
      name: "write and run a unit test",
      calls: [write("u.test.js", "require('node:test')('u',()=>{})"), sh("node --test u.test.js")],
      needs: "node",
    },
    {
      name: "format code",
      calls: [sh("sed -i 's/ *$//' t.js && node --check t.js")],
      needs: "node",
      shows: /exit code 0/,
    },
    { name: "start a long job", calls: [sh("sleep 600", { background: true })], shows: /runs in the background/ },
    { name: "read its output later", calls: [{ tool: "process", input: { action: "list" } }], shows: /sleep 600/ },
    { name: "kill it", calls: [{ tool: "process", input: { action: "kill", id: "THE-JOB" } }], shows: /killed/ },
    { name: "fetch a page the user named", calls: [url("https://example.org/")], isOnline: true },
    { name: "fetch a page linked from it", calls: [url("https://example.org/linked")], isOnline: true },
    { name: "search the web", calls: [url("https://duckduckgo.com/html/?q=weather")], isOnline: true },
    { name: "download a file the user named", calls: [sh("curl -sSLO https://example.org/file.zip")], isOnline: true },
    { name: "git clone of a public address", calls: [sh("git clone https://github.com/ann/project")], isOnline: true },
    {
      name: "git push",
      calls: [sh("git remote add origin git@github.com:ann/p.git"), sh("git push -u origin HEAD")],
      needs: "git",
      isOnline: true,
    },
    {
      name: "read a file outside",
      calls: [{ tool: "read_file", input: { path: join(outside, "notes.txt") } }],
      shows: /outside notes/,
    },
    { name: "write a file outside", calls: [write(join(outside, "new.txt"), "new")] },
    { name: "sudo anything", calls: [sh("sudo apt install jq")], isRefused: true },
    { name: "remember a fact", calls: [{ tool: "remember", input: { text: "Likes tea." } }], shows: /remembered/ },
    {
      name: "remind me tomorrow",
      calls: [{ tool: "remind", input: { text: "Tea", inSeconds: 86_400 } }],
      shows: /Set for/,
    },
  ];
}

/** Two of the list are parts of one request: the page and the page linked from it come after each other. */
const linked = "fetch a page linked from it";
const page = { input: { url: "https://example.org/" }, output: "[x](https://example.org/linked)", isApproved: false };
const talk = async () => ({ own: ["Look at https://example.org/ please"], calls: [page] });

const path = "/usr/local/bin:/usr/bin:/bin";
const has = (program: string): boolean => path.split(":").some((folder) => existsSync(join(folder, program)));

const missing = await withoutSandbox();

test("of fifty everyday requests at most eight ask", { skip: missing, timeout: 900_000 }, async (t) => {
  const room = makeRoom({ sandbox: "auto", in: homedir() });
  const jobs = openJobs({ folder: join(room.home, "jobs") });
  atEnd(t, async () => {
    await jobs.endAll("the test is over");
    room.remove();
  });
  const outside = join(room.userHome, "docs");
  mkdirSync(outside, { recursive: true });
  writeFileSync(join(outside, "notes.txt"), "outside notes");
  const settings = { approvals: "dangerous", hosts: [], network: false, outside: false, allowRoot: false } as const;
  const { sandbox, workspace, files, home, userHome } = room;
  const places = { workspace, files, home, userHome };
  const never: Archive["recall"] = async () => [];
  const tools: readonly Tool[] = [
    ...terminalTools({ ...settings, ...places, sandbox, jobs, environment: { PATH: path } }),
    ...builtinTools({
      ...room,
      web: { allowPrivate: false },
      blobs: openBlobs(join(home, "blobs")),
      archive: { recall: never },
    }),
  ];
  const rows: string[] = [];
  let asks = 0;
  let n = 0;

  async function make(
    { tool: name, input }: Call,
    isOnline: boolean,
    isLinked: boolean,
  ): Promise<readonly [Verdict, string]> {
    const tool = tools.find((one) => one.name === name) ?? assert.fail(name);
    const vetted = aVet(isLinked ? { outside: true, earlier: talk } : {});
    const verdict = (await tool.vet?.(input, vetted)) ?? { type: "run" as const };
    if (isOnline || verdict.type === "refuse" || verdict.type === "question") return [verdict, JSON.stringify(verdict)];
    const result = await tool.run(input, aToolContext(`t1:${n++}:c`, { grant: verdict.grant ?? noGrant }));
    return [verdict, result.type === "ok" ? String(result.output) : `${result.type}: ${result.why}`];
  }

  for (const { name, calls, needs = "", shows, isOnline, isRefused } of requests(outside)) {
    const absent = needs.split(" ").filter((one) => one !== "" && !has(one));
    let [asked, said] = ["", ""];
    for (const [at, call] of calls.entries()) {
      const isLast = at === calls.length - 1;
      const id = (await jobs.list(() => true)).find((job) => job.background)?.id ?? "";
      const ready = JSON.parse(JSON.stringify(call).replace("THE-JOB", id)) as Call;
      const isQuiet = absent.length > 0 || (isOnline === true && isLast);
      const [verdict, output] = await make(ready, isQuiet, name === linked);
      said = output;
      if (verdict.type === "approve") asked = (verdict.effects ?? [verdict.why]).join(" ");
      assert.equal(verdict.type === "refuse", isRefused === true, `${name}: ${output}`);
    }
    if (asked !== "") asks++;
    if (shows !== undefined && absent.length === 0 && isOnline !== true) assert.match(said, shows, name);
    const how = isRefused === true ? "refused" : asked === "" ? "runs" : `asks: ${asked}`;
    rows.push(`${name.padEnd(32)} ${how}${absent.length > 0 ? ` (not run: no ${absent.join(", ")})` : ""}`);
  }
  t.diagnostic(rows.join("\n"));
  assert.ok(rows.length >= 50, String(rows.length));
  assert.ok(asks <= asksMax, `${asks} ask:\n${rows.join("\n")}`);
});
