// What the gateway and its file worker say to each other: frames of a JSON head and a body of bytes. A call is answered
// in one reply or several; after each reply but the last, the worker waits for `next`. So a stream is never further ahead
// than one chunk, and a change is not made before the gateway has noted it. Pure.

/** How far a worker reaches. The wall around it is the sandbox; this is what holds where there is none, and good errors. */
export type FileScope = {
  /** Where relative paths begin; without links. */
  readonly workspace: string;
  /** Files of this person that lie among those of the gateway, to be read. */
  readonly readable: readonly string[];
  /** Can be written beside the workspace and the worker's own HOME and /tmp. */
  readonly writable: readonly string[];
  /** Files and folders of the gateway itself. */
  readonly closed: readonly string[];
  /** Only what really is in the workspace, or at one of these paths; null where the wall alone decides. */
  readonly only: readonly string[] | null;
  readonly isWalled: boolean;
};

export type FileRequest =
  | { readonly op: "read"; readonly path: string; readonly offset: number; readonly limit: number }
  | {
      readonly op: "search";
      readonly path: string;
      readonly pattern: string | null;
      readonly glob: string | null;
      readonly ignoreCase: boolean;
      readonly msMax: number;
    }
  /** Its bytes, chunk by chunk. */
  | { readonly op: "send"; readonly path: string; readonly bytesMax: number }
  /** The content is the body. `draft` begins the names of temporary files of this call. */
  | { readonly op: "write"; readonly path: string; readonly draft: string }
  | {
      readonly op: "edit";
      readonly path: string;
      readonly draft: string;
      readonly oldText: string;
      readonly newText: string;
      readonly replaceAll: boolean;
    }
  /** What lies there now; temporary files of this draft are removed. */
  | { readonly op: "digest"; readonly path: string; readonly draft: string | null }
  /** Whether a file is there. */
  | { readonly op: "look"; readonly path: string };

export type ToFileWorker =
  | { readonly type: "begin"; readonly scope: FileScope }
  | { readonly type: "call"; readonly id: number; readonly request: FileRequest }
  | { readonly type: "next"; readonly id: number }
  | { readonly type: "drop"; readonly id: number };

/** `chunk` and `planned` are followed by more; all others end the call. */
export type FileReply =
  /** The text is the body. */
  | { readonly type: "text" }
  | { readonly type: "chunk" }
  | { readonly type: "sent" }
  /** Digests of the content before and after, and what to say once it is done. */
  | { readonly type: "planned"; readonly before: string | null; readonly after: string; readonly says: string }
  | { readonly type: "changed" }
  | { readonly type: "digest"; readonly digest: string | null }
  /** `own`: in the HOME or the /tmp of the sandbox. */
  | { readonly type: "seen"; readonly isThere: boolean; readonly own: "home" | "tmp" | null }
  | { readonly type: "failed"; readonly why: string };

export type FileReplyFrame = { readonly reply: FileReply; readonly body: Uint8Array };

export function endsCall({ type }: FileReply): boolean {
  return type !== "chunk" && type !== "planned";
}

export const frameLimits = {
  /** From the gateway: the head holds the texts of an edit, the body the content of a file. */
  toWorker: 150_000_000,
  fromWorker: 2_000_000,
  chunk: 256 * 1024,
} as const;

export type FileFrame = { readonly head: unknown; readonly body: Buffer };

const lengths = 8;

export function encodeFrame(head: unknown, body: Uint8Array = new Uint8Array(0)): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const frame = Buffer.allocUnsafe(lengths + json.length + body.length);
  frame.writeUInt32BE(json.length, 0);
  frame.writeUInt32BE(body.length, 4);
  json.copy(frame, lengths);
  frame.set(body, lengths + json.length);
  return frame;
}

/** Takes bytes as they come and gives whole frames; null when a frame is larger than `max` or its head is not JSON. */
export function frameReader(max: number): (chunk: Buffer) => readonly FileFrame[] | null {
  let parts: Buffer[] = [];
  let held = 0;
  const take = (bytes: number): Buffer => {
    const all = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    parts = [all.subarray(bytes)];
    held -= bytes;
    return all.subarray(0, bytes);
  };
  let wanted: readonly [json: number, body: number] | null = null;
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    const frames: FileFrame[] = [];
    for (;;) {
      if (wanted === null) {
        if (held < lengths) return frames;
        const sizes = take(lengths);
        wanted = [sizes.readUInt32BE(0), sizes.readUInt32BE(4)];
        if (wanted[0] + wanted[1] > max) return null;
      }
      const [json, body] = wanted;
      if (held < json + body) return frames;
      const whole = take(json + body);
      wanted = null;
      const head = parsed(whole.subarray(0, json));
      if (head === undefined) return null;
      frames.push({ head, body: Buffer.from(whole.subarray(json)) });
    }
  };
}

function parsed(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
