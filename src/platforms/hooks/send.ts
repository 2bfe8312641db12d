// Sends an answer to where its hook says: a signed post under the item's id as its key, a message into another chat under
// the same id, or nowhere. Whoever receives posts has to keep the keys it has seen: then a repeat is seen once.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { Instant } from "../../core/ids.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Gateway } from "../../ports/gateway.ts";
import type { World } from "../../ports/world.ts";
import { type Hook, hookLimits } from "./api.ts";
import { afterError, afterStatus, foreignPage, foreignRedirect, mayBeLoginPage } from "./faults.ts";
import { toBody, toPost, toRequest } from "./outbound.ts";

export type Sending = {
  readonly hooks: readonly Hook[];
  readonly blobs: Blobs;
  readonly world: Pick<World, "now">;
  /** Since when a receiver without TLS answers with nothing but web pages, by its URL. */
  readonly pages: Map<string, Instant>;
  /** For answers that go into chats of other platforms. */
  readonly gateway: () => Pick<Gateway, "post" | "status">;
};

export async function send(sending: Sending, item: OutboxItem, signal: AbortSignal): Promise<SendResult> {
  const hook = sending.hooks.find(({ name }) => name === item.to.chat);
  if (hook === undefined) return { type: "refused", why: `there is no hook ${item.to.chat} in config.yaml any more` };
  if (hook.to !== undefined) return pass(sending, hook.to, item);
  if (hook.reply !== undefined) return post(sending, hook, hook.reply, item, signal);
  return { type: "accepted", remoteId: item.id };
}

async function pass({ gateway }: Sending, to: NonNullable<Hook["to"]>, item: OutboxItem): Promise<SendResult> {
  const { post: say, status } = gateway();
  const isOpen = status().platforms.some((one) => one.platform === to.platform && one.account === to.account);
  if (!isOpen)
    return {
      type: "refused",
      why: `there is no ${to.platform} account ${to.account} here; \`to\` of the hook is wrong`,
    };
  try {
    await say(to, toPost(item), item.id, item.files);
    return { type: "accepted", remoteId: item.id };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // Under its id it is said once, however often it is tried.
    if (error.code === "too-large" || error.code === "empty") return { type: "refused", why: error.message };
    return { type: "retry", afterMs: hookLimits.pauseMs, why: error.message };
  }
}

async function post(
  { blobs, world, pages }: Sending,
  hook: Hook,
  { url, secret }: NonNullable<Hook["reply"]>,
  item: OutboxItem,
  signal: AbortSignal,
): Promise<SendResult> {
  const contents = await contentsOf(blobs, item);
  const request = toRequest(secret, toBody(hook, item, contents), world.now());
  const over = AbortSignal.any([signal, AbortSignal.timeout(hookLimits.postMs)]);
  try {
    const response = await fetch(url, { ...request, signal: over });
    const { status, headers } = response;
    const isPage = await readsAsPage(url, response);
    const now = world.now();
    const foreign = isPage
      ? foreignPage(status, pageSince(pages, url, now), now)
      : foreignRedirect(url, status, headers.get("location"));
    if (foreign !== null) return { type: "unknown", why: foreign };
    const result = afterStatus(status, headers.get("retry-after"), item.id, now);
    if (result.type === "accepted" && !isPage) pages.delete(url);
    return result;
  } catch (error) {
    return error instanceof Error ? afterError(error) : { type: "unknown", why: sentenceOf(error) };
  }
}

/** A clock that was set back starts the count again. */
function pageSince(pages: Map<string, Instant>, url: string, now: Instant): Instant {
  const known = pages.get(url);
  const since = known === undefined || known > now ? now : known;
  pages.set(url, since);
  return since;
}

/** Reads no more than it needs, and leaves nothing open. */
async function readsAsPage(url: string, { status, body, headers }: Response): Promise<boolean> {
  const reader = body?.getReader();
  const isPossible = mayBeLoginPage(url, status, headers.get("content-type"));
  try {
    const { value } = (isPossible ? await reader?.read() : undefined) ?? {};
    await reader?.cancel();
    return isPossible && /^\s*(?:<!doctype html|<html)/i.test(Buffer.from(value ?? []).toString());
  } catch (error) {
    // A body that stalls or breaks off may be that of a page.
    if (isPossible) return true;
    throw error;
  }
}

/** Text is not kept waiting by a file that cannot be had: it is only named then. */
async function contentsOf(blobs: Blobs, { files }: OutboxItem): Promise<readonly Uint8Array[]> {
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > hookLimits.filesOutMax) return [];
  try {
    return await Promise.all(files.map(({ blob }) => blobs.read(blob)));
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}
