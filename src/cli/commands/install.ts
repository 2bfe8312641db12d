// `everturn gateway install` and `uninstall`: the service of this home at the supervisor of this system, and
// `everturn gateway autostart`, which the start of a container calls. Says what it did, or with --dry-run what it would do.

import { join } from "node:path";
import { loadConfig, systemInput } from "../../config/load.ts";
import { type Paths, pathsIn } from "../../config/paths.ts";
import { Fault } from "../../core/fault.ts";
import { shellWord } from "../../core/shell.ts";
import { killedByStop, readStateFile, writeExitReason } from "../../host/identity.ts";
import { announceStop, runningGateway } from "../../services/announce.ts";
import { prepareFolder, shouldAutostart } from "../../services/autostart.ts";
import { differences, repair } from "../../services/drift.ts";
import { endServed } from "../../services/ending.ts";
import { makeFolder, readInstalled, removeFile, writeWhole } from "../../services/files.ts";
import { serviceNeeds } from "../../services/hardening.ts";
import {
  type Command,
  type Service,
  type ServiceFile,
  type ServiceNeeds,
  noNeeds,
  refuseControlCharacters,
} from "../../services/kinds.ts";
import {
  type Here,
  carryOut,
  findService,
  here,
  isAttended,
  isInstalled,
  placeOf,
  runsAs,
  scanOf,
  serviceToInstall,
  servicesOf,
  tryCommand,
} from "../../services/verbs.ts";
import { type Context, pathsOf, show, textFlag } from "../context.ts";
import { wrongConfig } from "../wrong-config.ts";

export async function install(context: Context, all: Here = hereOf(context)): Promise<number> {
  const paths = pathsIn(all.home);
  refuseGuessedHome(context, all);
  const isTrial = context.flags["dry-run"] === true;
  const scope = context.flags["system"] === true ? "system" : "user";
  const service = serviceToInstall(all, scope, isTrial);
  refuseControlCharacters(placeOf(all, scope));
  const files = service.files(await needsOf(all));
  if (context.flags["allow-root"] !== true) refuseRoot(service, all);
  if (isTrial) warnOfRefusal(context, all, scope);
  if (isTrial) return showPlan(context, service, { write: files, remove: [], run: service.install });

  refuseSecond(all, service);
  await carryOut(service.check, all);
  const changed = await changedFiles(service, files, context.flags["force"] === true);
  const before = await stateOf(service, all);
  if (before !== "running") await refuseRival(paths);
  // launchd opens its log before the gateway can make the folder.
  await makeFolder(paths.logs, all.owner);
  for (const file of changed) await writeWhole(file);
  await carryOut(service.install, all);
  // What runs was started from the old text.
  const isRestarted = changed.length > 0 && before === "running";
  if (isRestarted && service.installLoadsAnew !== true) await carryOut(service.restart, all);
  const done = { service: nameOf(service), written: changed.map(({ path }) => path), restarted: isRestarted };
  return show(context, { ...done, hint: lingerHint(service, all) }, (value) =>
    [
      ...value.written.map((path) => `Wrote ${path}.`),
      value.restarted
        ? `Asked ${service.title} to restart; what runs goes on afterwards.`
        : `${sentence(service.title)} runs${value.written.length === 0 ? "; nothing had to be written" : ""}.`,
      ...(value.hint === null ? [] : [value.hint]),
    ].join("\n"),
  );
}

export async function uninstall(context: Context, all: Here = hereOf(context)): Promise<number> {
  const paths = pathsIn(all.home);
  refuseGuessedHome(context, all);
  const wanted = context.flags["system"] === true ? systemWide(all) : findService(all);
  const service = wanted !== null && isInstalled(wanted, all) ? wanted : null;
  if (service === null)
    return show(context, { service: null, removed: [] }, () => `No service is installed for ${paths.home}.`);
  const files = service.files(noNeeds);
  const remove = [...files.map(({ path }) => path), ...(service.folder === undefined ? [] : [service.folder])];
  if (context.flags["dry-run"] === true)
    return showPlan(context, service, { write: [], remove, run: [...service.uninstall, ...service.forget] });

  // Where its supervisor does not run there is nobody to be told.
  const told = (await isAttended(service, all)) ? service : null;
  await carryOut(told?.check ?? [], all);
  await stopPlanned(context, told, all);
  await carryOut(told?.uninstall ?? [], all);
  for (const path of remove) await removeFile(path);
  await carryOut(told?.forget ?? [], all);
  return show(context, { service: nameOf(service), removed: remove }, (value) =>
    [...value.removed.map((path) => `Removed ${path}.`), `Stopped and removed ${service.title}. ${kept(paths)}`].join(
      "\n",
    ),
  );
}

/** As `gateway stop` does: announced first, and only forced when its patience is over. */
async function stopPlanned(context: Context, service: Service | null, all: Here): Promise<void> {
  const paths = pathsIn(all.home);
  const target = await runningGateway(paths);
  const ended = await endServed(
    service,
    {
      target,
      drainSeconds: await patientDrainOf(all),
      writeMarker: async () => {
        if (target !== null) await announceStop(paths, target, all.owner, context.now());
      },
      onTrouble: (what) => context.output.err(what),
    },
    { system: all.system, carryOut: (commands) => carryOut(commands, all) },
  );
  // One that was killed could not say so itself.
  if (ended.type === "forced") await writeExitReason(paths.state, killedByStop);
}

/** What a container runs before its supervisor: the service's folder, down or not by what was wanted last. */
export async function autostart(context: Context, all: Here = hereOf(context)): Promise<number> {
  const paths = pathsIn(all.home);
  const scan = textFlag(context, "s6") ?? scanOf(all);
  const place = placeOf(all, "user");
  refuseControlCharacters(place);
  const state = await readStateFile(paths.state);
  const isFirst = !all.exists(paths.state) && context.flags["first"] === true;
  const starts = shouldAutostart(state) || isFirst;
  const folder = join(scan, place.name);
  await prepareFolder(place, folder, await patientDrainOf(all), starts);
  return show(context, { folder, starts, first: isFirst }, (value) =>
    value.starts
      ? `${folder} is prepared; the gateway starts when s6 does.`
      : `${folder} is prepared and stays down, because the gateway was not running or was stopped on purpose. \`everturn gateway start\` starts it.`,
  );
}

// ------------------------------------------------------------------------------------------------- what is refused

/** What would be written can be looked at anywhere; that it could not be used here is said beside it. */
function warnOfRefusal({ output }: Context, all: Here, scope: Parameters<typeof serviceToInstall>[1]): void {
  try {
    serviceToInstall(all, scope, false);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    output.err(`Without --dry-run this would be refused here: ${error.message}`);
  }
}

/** Under sudo the usual home is that of root, which is hardly the one that was meant. */
function refuseGuessedHome(context: Context, { env, home }: Here): void {
  const caller = env["SUDO_USER"] ?? "";
  const isChosen = textFlag(context, "home") !== undefined || (env["EVERTURN_HOME"] ?? "") !== "";
  if (caller === "" || caller === "root" || isChosen) return;
  throw new Fault(
    "not-possible",
    `Under sudo it must be said whose home is meant: add \`--home ~${caller}/.everturn\` for that of ${caller}, or \`--home ${shellWord(home)}\`.`,
  );
}

/** A gateway of root gives its tools the whole machine where they get out. One that is installed already stays. */
function refuseRoot(service: Service, all: Here): void {
  if (runsAs(service, all).uid !== 0 || isInstalled(service, all)) return;
  throw new Fault(
    "not-possible",
    [
      "The gateway would run as root. Give it a user of its own:",
      "  useradd --system --create-home --home-dir /var/lib/everturn --shell /usr/sbin/nologin everturn",
      "  install -d -m 700 -o everturn -g everturn /var/lib/everturn/.everturn",
      "  everturn gateway install --system --home /var/lib/everturn/.everturn",
      "Or, to run it as root all the same, add --allow-root.",
    ].join("\n"),
  );
}

/** Two services for one home would keep throwing each other out. */
function refuseSecond(all: Here, service: Service): void {
  const rival = servicesOf(all).find((one) => one.kind !== service.kind && isInstalled(one, all));
  if (rival === undefined) return;
  const option = rival.kind.endsWith("-system") ? " --system" : "";
  throw new Fault(
    "not-possible",
    `${all.home} has a service already: ${rival.title}. Remove it first: \`everturn gateway uninstall${option}\`.`,
  );
}

async function refuseRival(paths: Paths): Promise<void> {
  const rival = await runningGateway(paths);
  if (rival === null) return;
  throw new Fault(
    "already-running",
    `A gateway (pid ${rival.pid}) serves ${paths.home} outside of any service. Stop it first with \`everturn gateway stop\`, then install again.`,
  );
}

/** Those to write; a Fault when something else is there and it was not said that it may go. */
async function changedFiles(
  service: Service,
  files: readonly ServiceFile[],
  force: boolean,
): Promise<readonly ServiceFile[]> {
  const changed: ServiceFile[] = [];
  for (const file of files) {
    const installed = await readInstalled(file);
    if (installed === file.text) continue;
    changed.push(file);
    if (installed === null || force) continue;
    const names = differences(installed, file.text);
    const what = names.length === 0 ? "its comments" : names.join(", ");
    throw new Fault(
      "not-possible",
      `${file.path} is there already and differs from what ${service.title} would be (${what}). \`${repair}\` replaces it; settings of your own belong into a drop-in.`,
    );
  }
  return changed;
}

// --------------------------------------------------------------------------------------------------- what is looked at

function hereOf(context: Context): Here {
  return here(pathsOf(context).home);
}

async function needsOf({ home, env }: Here): Promise<ServiceNeeds> {
  const loaded = await loadConfig(systemInput(home));
  if (loaded.type === "wrong") throw wrongConfig(loaded.faults);
  return serviceNeeds(loaded.config, env);
}

/** A wrong configuration is told by the gateway itself, where its supervisor keeps what it says. */
async function patientDrainOf({ home }: Here): Promise<number> {
  const loaded = await loadConfig(systemInput(home));
  return loaded.type === "wrong" ? 0 : loaded.config.gateway.drainSeconds;
}

function systemWide(all: Here): Service | null {
  return servicesOf(all).find((one) => one.kind.endsWith("-system")) ?? null;
}

async function stateOf(service: Service, all: Here): Promise<string> {
  const tried = await tryCommand(service.status, all);
  return tried.code === "missing" ? "unknown" : service.stateIn(tried);
}

// -------------------------------------------------------------------------------------------------------- what is said

type Plan = {
  readonly write: readonly ServiceFile[];
  readonly remove: readonly string[];
  readonly run: readonly Command[];
};

function showPlan(context: Context, service: Service, { write, remove, run }: Plan): number {
  const files = write.map(({ path, mode, text }) => ({ path, mode: mode.toString(8), text }));
  const commands = run.map(({ program, words }) => [program, ...words]);
  return show(context, { service: nameOf(service), write: files, remove, run: commands }, (plan) =>
    [
      ...plan.write.map((file) => `# write ${file.path} (mode ${file.mode})\n${file.text}`),
      ...plan.remove.map((path) => `# remove ${path}`),
      "# run",
      ...plan.run.map((words) => words.join(" ")),
    ].join("\n"),
  );
}

function nameOf({ kind, label }: Service): { readonly kind: string; readonly label: string } {
  return { kind, label };
}

/** A user's services end with their last session, unless they linger. */
function lingerHint({ kind }: Service, { user, exists }: Here): string | null {
  if (kind !== "systemd-user" || exists(join("/var/lib/systemd/linger", user.name))) return null;
  return `It ends when ${user.name} logs out. To keep it running, and to start it with the machine: sudo loginctl enable-linger ${user.name}`;
}

function kept({ home }: Paths): string {
  return `${home} is untouched.`;
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}
