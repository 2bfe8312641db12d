// What tells that a process belongs to a job.

import assert from "node:assert/strict";
import { test } from "node:test";
import { markIn, pipeIn, scopeIn } from "./marked.ts";

test("a process is known by its environment, by its pipe, or by its scope", () => {
  assert.deepEqual(markIn(7, "A=1\0EVERTURN_JOB=/h/jobs/x\0B=2\0"), { pid: 7, folder: "/h/jobs/x" });
  assert.equal(markIn(7, "A=1\0XEVERTURN_JOB=/h/jobs/x\0EVERTURN_JOB=\0"), null);
  assert.deepEqual(pipeIn(7, "/h/jobs/x/pipe (deleted)"), { pid: 7, folder: "/h/jobs/x" });
  for (const other of ["", "pipe:[123]", "/h/jobs/x/pipe", "/dev/null", "/h/jobs/x/output"])
    assert.equal(pipeIn(7, other), null, other);
  const scope = "0::/system.slice/everturn-job-0123456789ab-m1x2y3.scope\n";
  assert.deepEqual(scopeIn(7, scope, "/h/jobs"), { pid: 7, folder: "/h/jobs/0123456789ab" });
  for (const other of ["", "0::/system.slice/everturn.service\n", "0::/everturn-try-12-m1.scope\n"])
    assert.equal(scopeIn(7, other, "/h/jobs"), null, other);
});
