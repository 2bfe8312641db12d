// `everturn workspaces`: where the tools of each person work, how much lies there, and whether it holds text from
// outside. Read from the home itself, so it needs no gateway.

import { visibleLine } from "../../core/asked/visible.ts";
import { Fault } from "../../core/fault.ts";
import { listWorkspaces, markWorkspace, sizeOfFolder } from "../../host/workspaces.ts";
import { type Context, pathsOf, show } from "../context.ts";
import { table } from "../print.ts";
import { pick } from "./pick.ts";

export async function list(context: Context): Promise<number> {
  const notes = await listWorkspaces(pathsOf(context).workspaces);
  const workspaces = await Promise.all(notes.map(async (note) => ({ ...note, ...(await sizeOfFolder(note.folder)) })));
  return show(context, { workspaces }, () => {
    if (workspaces.length === 0) return "No workspace has been used yet.";
    const rows = workspaces.map(({ id, person, bytes, isWhole, isMarked, folder }) => [
      id,
      visibleLine(person),
      `${isWhole ? "" : "over "}${sizeText(bytes)}`,
      isMarked ? "yes" : "no",
      visibleLine(folder),
    ]);
    return table(["WORKSPACE", "PERSON", "SIZE", "OUTSIDE TEXT", "FOLDER"], rows, context.output);
  });
}

export async function unmark(context: Context): Promise<number> {
  const { workspaces: root } = pathsOf(context);
  const given = context.given[0] ?? "";
  const found = pick(given, await listWorkspaces(root), "workspace");
  const note = found === null ? null : await markWorkspace(root, found.id, false);
  if (note === null)
    throw new Fault("not-found", `There is no workspace ${given}. List them with \`everturn workspaces\`.`);
  return show(
    context,
    note,
    () => `What is read in ${visibleLine(note.folder)} no longer counts as text from outside.`,
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
