// What can be wrong with a home, as a table: each check turns facts into ok, warning or fault, with what it means and what
// to do. Pure.

import { heldText, heldTodo } from "../held.ts";
import { many, sizeText } from "../print.ts";
import { judgeCommands, judgeModel, judgeSandbox } from "./agent.ts";
import type { FileFacts, Findings } from "./findings.ts";
import { judgePlatforms } from "./platforms.ts";
import { judgeServers } from "./servers.ts";
import { type Verdict, fault, ok, warning } from "./verdict.ts";

export type { Fix, Verdict } from "./verdict.ts";

export type Check = {
  readonly name: string;
  /** Part of `gateway status --deep` as well. */
  readonly deep: boolean;
  readonly judge: (found: Findings) => Verdict;
};

/** A store needs room to grow and to be tidied up; below the lower mark nothing can be relied on. */
const roomWanted = 1_000_000_000;
const roomNeeded = 100_000_000;
const oldestNode = 24;
/** Before this nobody had the program. */
const earliest = Date.UTC(2025, 0, 1);
const clockSlackMs = 5 * 60_000;

export const checks: readonly Check[] = [
  { name: "node", deep: false, judge: judgeNode },
  { name: "home", deep: false, judge: judgeHome },
  { name: "files", deep: false, judge: judgeFiles },
  { name: "permissions", deep: false, judge: judgePermissions },
  { name: "disk", deep: true, judge: judgeDisk },
  { name: "file system", deep: true, judge: judgeFileSystem },
  { name: "config", deep: false, judge: judgeConfig },
  { name: "model", deep: true, judge: judgeModel },
  { name: "sandbox", deep: true, judge: judgeSandbox },
  { name: "programs", deep: false, judge: judgeCommands },
  { name: "store", deep: true, judge: judgeStore },
  { name: "store version", deep: false, judge: judgeVersion },
  { name: "gateway", deep: false, judge: judgeGateway },
  { name: "platforms", deep: false, judge: judgePlatforms },
  { name: "mcp", deep: false, judge: judgeServers },
  { name: "outbox", deep: false, judge: judgeOutbox },
  { name: "lock", deep: true, judge: judgeLock },
  { name: "markers", deep: true, judge: judgeMarkers },
  { name: "port", deep: false, judge: judgePort },
  { name: "service", deep: true, judge: judgeService },
  { name: "stop timing", deep: false, judge: judgeTiming },
  { name: "linger", deep: false, judge: judgeLinger },
  { name: "clock", deep: false, judge: judgeClock },
];

function judgeNode({ node, sqlite }: Findings): Verdict {
  if (Number.parseInt(node, 10) >= oldestNode) return ok(`Node ${node} with SQLite ${sqlite}`);
  return fault(`this is Node ${node}`, `Run Everturn with Node ${oldestNode} or newer.`);
}

function judgeHome({ home, folder }: Findings): Verdict {
  if (folder === null) return warning(`there is no ${home} yet`, "The first start makes it.");
  if (!folder.isOwn)
    return fault(`${home} belongs to another user`, "Run as that user, or set EVERTURN_HOME to a folder of your own.");
  return ok(home);
}

function judgeFiles({ folder, obstacles }: Findings): Verdict {
  const [first] = obstacles;
  if (first !== undefined) return fault(obstacles.map((one) => one.what).join("\n"), first.todo);
  return ok(folder === null ? "not looked at, there is no home yet" : "what is there can be used");
}

function judgePermissions({ folder, secrets, system }: Findings): Verdict {
  if (system === "win32") return ok("left to Windows");
  // A closed folder hides whatever is in it.
  const isOpen = (one: FileFacts) => (one.mode & 0o077) !== 0;
  if (folder === null || !isOpen(folder)) return ok("only this user can read it");
  const open = [folder, ...secrets.filter(isOpen)];
  const shown = open.map((one) => `${one.path} (${one.mode.toString(8)})`).join(", ");
  return fault(`others on this machine can read ${shown}`, "`everturn doctor --fix` closes it.", "permissions");
}

function judgeDisk({ disk }: Findings): Verdict {
  if (disk === null) return ok("not looked at, there is no home yet");
  const room = `${sizeText(disk.free)} of ${sizeText(disk.total)} free`;
  const todo = "Make room; while there is none, messages are not accepted, and nothing accepted is lost.";
  if (disk.free < roomNeeded) return fault(room, todo);
  return disk.free < roomWanted ? warning(room, todo) : ok(room);
}

function judgeFileSystem({ disk, store }: Findings): Verdict {
  if (disk === null) return ok("not looked at, there is no home yet");
  const local = "Set EVERTURN_HOME to a folder on a local disk.";
  switch (disk.kind) {
    case "nfs":
    case "smb":
    case "smb2":
    case "cifs":
      return fault(`the home is on ${disk.kind}, where locks and flushes cannot be trusted`, local);
    case "tmpfs":
    case "ramfs":
      return warning(`the home is in memory (${disk.kind}): everything in it is gone when the machine restarts`, local);
    case "overlay":
      return warning(
        "the home is part of a container's own layer (overlay), and is gone with the container",
        "Put it on a volume.",
      );
    default:
      if (store.type === "found" && store.warning !== null) return warning(store.warning, local);
      return ok(disk.kind);
  }
}

function judgeConfig({ configFaults }: Findings): Verdict {
  if (configFaults.length === 0) return ok("no faults");
  return fault(configFaults.join("\n"), "Correct it; `everturn config check` says whether it is right.");
}

function judgeStore({ store, home }: Findings): Verdict {
  switch (store.type) {
    case "none":
      return ok(`there is none in ${home} yet`);
    case "unusable":
      if (!store.isDamaged) return fault(store.why, "Nothing in it is damaged; mend that and look again.");
      return fault(store.why, "`everturn restore <file>` brings a backup back; the damaged file is kept beside it.");
    case "found": {
      const { bytes, tookMs, openTurns, openItems } = store;
      const size = `${sizeText(bytes)}, ${many(openTurns, "unfinished turn")}, ${many(openItems, "unsent message")}`;
      if (store.fault === null) return ok(`${size}; read and checked in ${Math.round(tookMs)} ms`);
      return fault(
        `it is damaged: ${store.fault}`,
        "Stop the gateway, keep a copy of the home, and bring a backup back with `everturn restore <file>`.",
      );
    }
  }
}

function judgeVersion({ store }: Findings): Verdict {
  if (store.type !== "found") return ok("there is nothing to look at");
  const { schema, newest } = store;
  if (schema === newest) return ok(`schema ${schema}`);
  return warning(`schema ${schema}, this version has ${newest}`, "The next start of the gateway brings it up to date.");
}

function judgeGateway({ gateway, state, isAlive }: Findings): Verdict {
  if (gateway === null) {
    if (isAlive)
      return fault(
        `the gateway (pid ${state?.pid}) lives but does not answer`,
        "`everturn logs` may tell why; `everturn gateway stop` ends it, by force if it must.",
      );
    if (state?.gateway_state === "startup_failed")
      return fault(
        `the last start failed: ${state.exit_reason ?? "nothing is on record"}`,
        "Correct it, then `everturn gateway start`.",
      );
    if (state === null || state.gateway_state === "stopped") return ok("none runs");
    return warning(
      state.exit_reason === null
        ? `the last one (pid ${state.pid}) is gone without a word`
        : `the last one (pid ${state.pid}) ended: ${state.exit_reason}`,
      "`everturn why` tells how it ended; `everturn gateway start` goes on from there.",
    );
  }
  if (gateway.safeMode)
    return fault(
      `it is in safe mode: ${gateway.reason ?? "it died too often before it was ready"}`,
      "`everturn why` tells what happened; `everturn gateway resume` tries again.",
    );
  if (gateway.state === "running") return ok(`running, answers in ${Math.round(gateway.answeredMs)} ms`);
  return warning(
    `it is ${gateway.state}${gateway.reason === null ? "" : `: ${gateway.reason}`}`,
    "`everturn gateway status` shows how it goes on.",
  );
}

function judgeOutbox({ gateway, now }: Findings): Verdict {
  if (gateway === null) return ok("not looked at, because no gateway runs");
  const { dead, held } = gateway;
  if (dead === 0 && held.length === 0) return ok("nothing was given up, and no answer is held");
  const lost = dead === 0 ? [] : [dead === 1 ? "1 message was given up" : `${dead} messages were given up`];
  const lostTodo =
    "`everturn outbox list` tells why; `everturn outbox retry <id>` sends one again, `everturn outbox discard <id>` forgets it.";
  const todo = [...(dead === 0 ? [] : [lostTodo]), ...(held.length === 0 ? [] : [heldTodo])];
  return warning([...lost, ...held.map((one) => heldText(one, now))].join("\n"), todo.join(" "));
}

function judgeLock({ lock, isAlive, state }: Findings): Verdict {
  if (typeof lock === "object") return fault(lock.unusable, "Check the owner and the permissions of the home folder.");
  if (lock === "free") return ok("free: no gateway serves this home");
  if (isAlive) return ok(`held by the gateway (pid ${state?.pid})`);
  return fault(
    "held by a process that gateway_state.json does not name",
    "A gateway may be starting just now. If not, find the process (`fuser` on gateway.lock) and end it with SIGINT.",
  );
}

function judgeMarkers({ markers }: Findings): Verdict {
  const there = markers.filter((one) => one.judgement !== "absent");
  if (there.length === 0) return ok("none");
  const stale = there.filter((one) => one.judgement === "stale");
  const unreadable = there.filter((one) => one.judgement === "unreadable");
  const rest = unreadable.map((one) => `\ncannot be read: ${one.path}`).join("");
  if (stale.length > 0)
    return warning(
      `left by somebody and of no use any more: ${stale.map((one) => one.path).join(", ")}${rest}`,
      "No gateway obeys it. `everturn doctor --fix` removes it.",
      "markers",
    );
  if (unreadable.length > 0)
    return warning(
      `cannot be read: ${unreadable.map((one) => one.path).join(", ")}`,
      "Remove it; no gateway obeys it.",
    );
  return ok("a stop or a take-over is under way");
}

function judgePort({ port: { place, use } }: Findings): Verdict {
  if (typeof use === "object")
    return fault(
      `${place} cannot be used (${use.taken})`,
      "Set `control.port` in config.yaml, or EVERTURN_CONTROL__PORT, to another port (0 takes any free one).",
    );
  if (use === "any") return ok("any free one");
  return ok(`${place} is ${use === "ours" ? "the gateway's" : "free"}`);
}

function judgeService({ service }: Findings): Verdict {
  if (service === null) return ok("none is installed; `everturn gateway install` makes one");
  const { title, state, missing, differs } = service;
  const todo = "`everturn gateway install --force` writes it anew, and so does `everturn doctor --fix`.";
  if (missing.length > 0) return fault(`${title} lacks ${missing.join(", ")}`, todo, "service");
  if (differs.length > 0)
    return warning(`${title} is not what this version would write: ${differs.join(", ")}`, todo, "service");
  if (!service.isAttended)
    return warning(
      `${title} is installed, but its supervisor does not run`,
      "`everturn gateway start` runs the gateway without it; `everturn gateway uninstall` removes it.",
    );
  if (state === "failed")
    return fault(`${title} has failed`, "`everturn logs` and `everturn why` tell more; then `everturn gateway start`.");
  if (service.isRoot)
    return warning(
      `${title} runs as root`,
      "Give it a user of its own: `everturn gateway uninstall`, then `everturn gateway install` says how.",
    );
  return ok(`${title} is installed and ${state}`);
}

function judgeTiming({ service, drainSeconds }: Findings): Verdict {
  if (service === null || service.givenSeconds === null) return ok("left to whoever started it");
  const { givenSeconds, neededSeconds } = service;
  if (givenSeconds >= neededSeconds) return ok(`a stop may take ${givenSeconds} s`);
  return fault(
    `the service kills a stop after ${givenSeconds} s, and gateway.drainSeconds ${drainSeconds} needs ${neededSeconds} s`,
    "Run `everturn gateway install --force`, or set a smaller `gateway.drainSeconds`.",
    "service",
  );
}

function judgeLinger({ service }: Findings): Verdict {
  if (service === null || service.lingers === null) return ok("it does not matter here whether anybody is logged in");
  if (service.lingers) return ok(`services of ${service.user} run without a login`);
  return warning(
    `the service ends when ${service.user} logs out, and does not start with the machine`,
    `sudo loginctl enable-linger ${service.user}`,
  );
}

function judgeClock({ now, lastBeat }: Findings): Verdict {
  if (now < earliest) return fault(`this machine thinks it is ${new Date(now).toISOString()}`, "Set its clock.");
  if (lastBeat !== null && lastBeat > now + clockSlackMs)
    return warning(
      `the last sign of life in the store is from the future (${new Date(lastBeat).toISOString()})`,
      "The clock was set back. Look at it; timers and ages are counted from it.",
    );
  return ok(new Date(now).toISOString());
}

export type Told = Verdict & { readonly name: string };

export function examine(found: Findings, chosen: readonly Check[] = checks): readonly Told[] {
  return chosen.map(({ name, judge }) => ({ name, ...judge(found) }));
}

export function worst(told: readonly Told[]): Verdict["level"] {
  if (told.some((one) => one.level === "fault")) return "fault";
  return told.some((one) => one.level === "warning") ? "warning" : "ok";
}
