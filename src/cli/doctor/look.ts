// Looks at everything a check may ask about. Each look stands for itself: what fails is noted and the others go on.

import { existsSync, statSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { sentenceOfFault } from "../../config/faults.ts";
import { loadConfig, systemInput } from "../../config/load.ts";
import { type Paths, partsOf } from "../../config/paths.ts";
import type { Probed, StatusReply } from "../../control/protocol.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { type ProcessIdentity, type ReadStateFile, isAlive, readStateFile } from "../../host/identity.ts";
import { acquireLock } from "../../host/lock.ts";
import { judgeMarker, readMarker } from "../../host/markers.ts";
import { obstaclesIn } from "../../host/obstacles.ts";
import { fileSystemName } from "../../host/place.ts";
import { differences, patienceIn } from "../../services/drift.ts";
import { readInstalled } from "../../services/files.ts";
import { serviceNeeds } from "../../services/hardening.ts";
import { type Service, type ServiceNeeds, noNeeds, stopSeconds } from "../../services/kinds.ts";
import { type Here, findService, here, isAttended, passOn, runsAs, tryCommand } from "../../services/verbs.ts";
import { type Context, pathsOf, textFlag } from "../context.ts";
import { probesNow, statusNow } from "../verbs/gateway.ts";
import type { FileFacts, Findings, PlatformFacts, ServiceFacts, StoreFacts } from "./findings.ts";

export async function lookAround(context: Context): Promise<Findings> {
  const paths = pathsOf(context);
  const all = here(paths.home);
  const loaded = await loadConfig(systemInput(textFlag(context, "home")));
  const config = loaded.type === "loaded" ? loaded.config : null;
  const drainSeconds = config?.gateway.drainSeconds ?? 0;
  const state = await readStateFile(paths.state);
  const target = identityIn(state);
  const isServed = target !== null && isAlive(target);
  const from = performance.now();
  const status = isServed ? await statusNow(context) : null;
  const answeredMs = performance.now() - from;
  const probes = status === null ? [] : await probesNow(context);
  const service = findService(all);
  return {
    home: paths.home,
    now: context.now(),
    system: process.platform,
    node: process.versions.node,
    sqlite: process.versions["sqlite"] ?? "unknown",
    folder: fileFacts(paths.home),
    obstacles: obstaclesIn(partsOf(paths)),
    secrets: [paths.token, paths.env, paths.config, paths.state, paths.logs].flatMap((path) => fileFacts(path) ?? []),
    disk: diskFacts(paths.home),
    configFaults: loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : [],
    drainSeconds,
    agent: config === null ? null : await context.doors.lookAtAgent(config, paths),
    store: await storeFacts(context, paths),
    markers: await markerFacts(paths, isServed ? target : null, context.now()),
    state,
    isAlive: isServed,
    lock: lockFacts(paths, isServed),
    port: await portFacts(
      config?.control ?? { host: "127.0.0.1", port: 0 },
      status === null ? null : (state?.url ?? ""),
    ),
    service:
      service === null
        ? null
        : await serviceFacts(service, all, config === null ? noNeeds : serviceNeeds(config, all.env)),
    lastBeat: await lastBeat(context, paths),
    gateway:
      status === null
        ? null
        : {
            state: status.state,
            reason: status.reason,
            safeMode: status.safeMode,
            answeredMs,
            platforms: platformFacts(status, probes),
            // A gateway of an earlier version names none.
            servers: (status as Partial<StatusReply>).servers ?? [],
            dead: status.counts.items.dead,
            // A gateway of an earlier version does not say which.
            held: (status as Partial<StatusReply>).held ?? [],
          },
  };
}

function platformFacts(status: StatusReply, probes: readonly Probed[]): readonly PlatformFacts[] {
  return status.platforms.map((one) => {
    const { platform, account, state, since, why, heardAt, nextTryAt } = one;
    const probe = probes.find((asked) => asked.platform === platform && asked.account === account) ?? null;
    return {
      name: `${platform}/${account}`,
      platform,
      health: { state, since, why, heardAt, nextTryAt },
      probe: probe === null ? null : { fine: probe.fine, said: probe.said },
    };
  });
}

function identityIn(state: ReadStateFile | null): ProcessIdentity | null {
  return state === null || state.pid === null ? null : { pid: state.pid, startTime: state.start_time };
}

function fileFacts(path: string): FileFacts | null {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return null;
  const uid = process.getuid?.();
  return { path, mode: facts.mode & 0o777, isOwn: uid === undefined || uid === 0 || facts.uid === uid };
}

function diskFacts(home: string): Findings["disk"] {
  if (!existsSync(home)) return null;
  const { bavail, blocks, bsize, type } = statfsSync(home);
  return { free: bavail * bsize, total: blocks * bsize, kind: fileSystemName(type) };
}

async function storeFacts(context: Context, { store }: Paths): Promise<StoreFacts> {
  if (!existsSync(store)) return { type: "none" };
  try {
    return { type: "found", bytes: statSync(store).size, ...(await context.doors.lookAtStore(store)) };
  } catch (error) {
    if (error instanceof Fault)
      return { type: "unusable", why: error.message, isDamaged: error.code === "store-foreign" };
    throw error;
  }
}

async function lastBeat(context: Context, { store }: Paths): Promise<number | null> {
  if (!existsSync(store)) return null;
  try {
    return (await context.doors.readBoots(store, 1))[0]?.beatAt ?? null;
  } catch (error) {
    // The look at the store itself tells what is wrong with it.
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Nobody is what a marker is compared with when no gateway runs: it can only be young or stale then. */
const nobody: ProcessIdentity = { pid: 0, startTime: null };

async function markerFacts(paths: Paths, target: ProcessIdentity | null, now: number): Promise<Findings["markers"]> {
  const files = [paths.plannedStop, paths.takeOver];
  const found = await Promise.all(files.map((path) => readMarker(path)));
  return files.map((path, i) => ({
    path,
    judgement: judgeMarker(found[i] ?? { type: "absent" }, target ?? nobody, now),
  }));
}

/** Asked only where nobody is known to hold it; it is let go at once. */
function lockFacts({ lock }: Paths, isServed: boolean): Findings["lock"] {
  if (isServed) return "held";
  if (!existsSync(lock)) return "free";
  try {
    const tried = acquireLock(lock);
    if (tried.type === "taken") return "held";
    tried.release();
    return "free";
  } catch (error) {
    if (error instanceof Fault) return { unusable: error.message };
    throw error;
  }
}

async function portFacts(
  { host, port }: { readonly host: string; readonly port: number },
  ours: string | null,
): Promise<Findings["port"]> {
  const place = `${host}:${port}`;
  if (port === 0) return { place, use: "any" };
  if (ours !== null && new URL(ours || "http://x").port === String(port)) return { place, use: "ours" };
  const server = createServer();
  return new Promise((found) => {
    server.once("error", (error) => found({ place, use: { taken: sentenceOf(error) } }));
    server.listen({ host, port }, () => server.close(() => found({ place, use: "free" })));
  });
}

async function serviceFacts(service: Service, all: Here, needs: ServiceNeeds): Promise<ServiceFacts> {
  const missing: string[] = [];
  const differs: string[] = [];
  let givenSeconds: number | null = null;
  // This shell may have another PATH than the one the service was installed from; that is no trouble.
  const own = Object.keys(passOn({ PATH: "/", NODE_OPTIONS: "x", NODE_EXTRA_CA_CERTS: "x" }));
  for (const file of service.files(needs)) {
    const installed = await readInstalled(file);
    if (installed === null) missing.push(file.path);
    else differs.push(...differences(installed, file.text).filter((name) => !own.includes(name)));
    givenSeconds ??= installed === null ? null : patienceIn(installed, file.path);
  }
  const tried = await tryCommand(service.status, all);
  const isUserUnit = service.kind === "systemd-user";
  return {
    title: service.title,
    isSystem: service.kind.endsWith("-system"),
    state: tried.code === "missing" ? "unknown" : service.stateIn(tried),
    isAttended: await isAttended(service, all),
    missing,
    differs: [...new Set(differs)],
    givenSeconds,
    neededSeconds: stopSeconds(needs.drainSeconds),
    lingers: isUserUnit ? existsSync(join("/var/lib/systemd/linger", all.user.name)) : null,
    user: all.user.name,
    isRoot: runsAs(service, all).uid === 0,
  };
}
