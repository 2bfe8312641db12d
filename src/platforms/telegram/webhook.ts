// The other way in: Telegram brings each update to an address of ours, and gets its 200 only after the update is stored; until
// then, and after any other answer, it comes again. Several come at once: each chat in its order, the chats beside each
// other. Nobody without the secret is listened to.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Update } from "grammy/types";
import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { Routes } from "../../ports/http.ts";
import type { Inlet } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { chatOf, gather } from "./albums.ts";
import { type Bot, type Settings, theirs, wantedUpdates } from "./api.ts";
import { faultOf } from "./faults.ts";

/** Below this path of the control port; what the public address is called is its owner's business. */
const prefix = "/telegram/updates";
const albumMs = 1_000;
const bytesMax = 1_000_000;
const secretHeader = "x-telegram-bot-api-secret-token";

export function isOurs(url: string): boolean {
  return URL.parse(url)?.pathname.endsWith(prefix) ?? false;
}

export interface Webhook {
  readonly routes: Routes;
  /** Runs until the signal aborts. */
  listen(inlet: Inlet, take: Take, signal: AbortSignal): Promise<void>;
}

type Take = (updates: readonly Update[]) => Promise<void>;

export function webhook(
  bot: Bot,
  world: World,
  settings: Pick<Settings, "token"> & { readonly webhook: NonNullable<Settings["webhook"]> },
): Webhook {
  const { url } = settings.webhook;
  const secret = settings.webhook.secretToken ?? ownSecret(settings.token);
  let take: Take | null = null;
  /** Albums that are being put together, with everybody who waits for them. */
  const albums = new Map<string, { readonly updates: Update[]; readonly taken: Promise<void> }>();

  /** The last one that is being taken of each chat. */
  const lanes = new Map<number, Promise<void>>();

  /** What stands behind one that could not be stored fails with it, and comes again: it must not be stored first. */
  function inTurn(chat: number, work: () => Promise<void>): Promise<void> {
    const done = (lanes.get(chat) ?? Promise.resolve()).then(work);
    lanes.set(chat, done);
    const leave = (): void => {
      if (lanes.get(chat) === done) lanes.delete(chat);
    };
    void done.then(leave, leave);
    return done;
  }

  function takeOne(update: Update, taking: Take): Promise<void> {
    const chat = chatOf(update) ?? 0;
    const [name] = gather([update], new Map()).open.keys();
    if (name === undefined) return inTurn(chat, () => taking([update]));
    const known = albums.get(name);
    if (known !== undefined) {
      known.updates.push(update);
      return known.taken;
    }
    const updates = [update];
    const gathered = world.sleep(later(world.now(), albumMs), new AbortController().signal);
    const close = (): void => void albums.delete(name);
    const taken = inTurn(chat, async () => {
      await gathered;
      close();
      await taking(updates);
    });
    albums.set(name, { updates, taken });
    void taken.catch(close);
    return taken;
  }

  async function admit(request: Request): Promise<Response | null> {
    if (request.method !== "POST") return answer(405, "Only POST is answered here.");
    if (!isSecret(request.headers.get(secretHeader) ?? "", secret)) return answer(401, "The secret token is wrong.");
    return null;
  }

  async function handle(request: Request): Promise<Response> {
    const refused = await admit(request);
    if (refused !== null) return refused;
    if (take === null) return answer(503, "The gateway does not listen now.");
    const update = readUpdate(await request.text());
    if (update === null) return answer(400, "The body is not an update.");
    try {
      await takeOne(update, take);
      return answer(200, "ok");
    } catch (error) {
      world.log("warn", "an update of Telegram could not be stored; it comes again", { why: sentenceOf(error) });
      return answer(503, "It could not be stored.");
    }
  }

  return {
    routes: {
      prefix,
      auth: "own",
      routes: [{ method: "POST", path: prefix, body: { whole: bytesMax } }],
      refuse: ({ status, message }) => answer(status, message),
      admit,
      handle,
    },
    async listen(inlet, taking, signal) {
      try {
        const raw = await bot.raw();
        const wanted = { url, secret_token: secret, allowed_updates: wantedUpdates };
        await raw.setWebhook({ ...wanted, drop_pending_updates: false }, theirs(signal));
      } catch (error) {
        if (signal.aborted) return;
        throw faultOf(error);
      }
      take = taking;
      inlet.up();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      take = null;
    },
  };
}

/** The same for the same token, and of no use to find the token. */
function ownSecret(token: string): string {
  return createHash("sha256").update(`webhook ${token}`).digest("hex");
}

function isSecret(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

function readUpdate(body: string): Update | null {
  try {
    const update = JSON.parse(body) as Partial<Update> | null;
    return typeof update?.update_id === "number" ? { ...update, update_id: update.update_id } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function answer(status: number, text: string): Response {
  return new Response(`${text}\n`, { status });
}
