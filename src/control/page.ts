// The built page as static files. Nothing from elsewhere may run in it: scripts, styles and calls come from this
// server only. When the page was not built, a text says so and everything else goes on working.

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";

export type Page = (path: string, request: Request) => Promise<Response>;

export const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
} as const;

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".map": "application/json",
  ".txt": "text/plain; charset=utf-8",
};

type Kept = { readonly stamp: string; readonly etag: string; readonly bytes: Uint8Array<ArrayBuffer> };

/** Plain names only: nothing that could climb out of the folder. */
const safePath = /^\/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

export function page(folder: string): Page {
  const kept = new Map<string, Kept>();

  async function load(path: string): Promise<Kept | null> {
    const file = join(folder, path);
    try {
      const { mtimeMs, size } = await stat(file);
      const stamp = `${mtimeMs}-${size}`;
      const known = kept.get(path);
      if (known?.stamp === stamp) return known;
      const bytes = new Uint8Array(await readFile(file));
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      const fresh = { stamp, etag, bytes };
      kept.set(path, fresh);
      return fresh;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return null;
      throw error;
    }
  }

  return async (asked, request) => {
    const path = asked === "/" ? "/index.html" : asked;
    const type = types[extname(path)];
    const found = safePath.test(path) && type !== undefined ? await load(path) : null;
    if (found === null || type === undefined)
      return asked === "/" ? notBuilt() : plain(404, "There is nothing here.\n");
    const headers = { ...pageHeaders, etag: found.etag, "cache-control": "no-cache" };
    if (request.headers.get("if-none-match") === found.etag) return new Response(null, { status: 304, headers });
    return new Response(found.bytes, { headers: { ...headers, "content-type": type } });
  };
}

export function plain(status: number, text: string): Response {
  const headers = { ...pageHeaders, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return new Response(text, { status, headers });
}

function notBuilt(): Response {
  return plain(
    503,
    "Everturn is running, but its page was not built.\n\nRun `npm run build` in the folder of Everturn and reload this page.\nThe terminal works meanwhile: `everturn chat`.\n",
  );
}
