// One file on its way to the gateway, with its progress: the one thing that `fetch` cannot tell. Never throws for what the
// gateway or the network did.

import { type FileRef, readError, readUploaded } from "./wire.ts";

export type Uploaded =
  | { readonly type: "stored"; readonly file: FileRef }
  | { readonly type: "failed"; readonly why: string }
  | { readonly type: "denied" };

export type Upload = {
  readonly file: File;
  readonly headers: Readonly<Record<string, string>>;
  readonly progress: (part: number) => void;
  readonly signal: AbortSignal;
};

export function uploadTo(url: string, { file, headers, progress, signal }: Upload): Promise<Uploaded> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("content-type", file.type === "" ? "application/octet-stream" : file.type);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () => resolve(outcome(request.status, request.responseText)));
    request.addEventListener("error", () => resolve({ type: "failed", why: "The gateway did not answer." }));
    request.addEventListener("abort", () => resolve({ type: "failed", why: "It was taken away." }));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

/** What an answer to an upload means. Pure. */
export function outcome(status: number, body: string): Uploaded {
  const value = parse(body);
  const file = status >= 200 && status < 300 ? readUploaded(value) : null;
  if (file !== null) return { type: "stored", file };
  if (status === 401) return { type: "denied" };
  return { type: "failed", why: readError(value) ?? `The gateway refused it (HTTP ${status}).` };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    console.debug("An answer to an upload that is no JSON.", error);
    return null;
  }
}
