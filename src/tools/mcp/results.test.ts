import assert from "node:assert/strict";
import { test } from "node:test";
import { type Content, namedAs, resultOf } from "./results.ts";

const png = Buffer.from("89504e470d0a1a0a0000", "hex");
const odd = Buffer.from("odd");

test("files of a server have a name and a type that fit their content", () => {
  for (const [wanted, declared, content, name, mime] of [
    ["image-1", "image/png", png, "image-1.png", "image/png"],
    ["image-1", "image/jpeg", png, "image-1.png", "image/png"],
    ["image-1", "", png, "image-1.png", "image/png"],
    ["shot.jpeg", "image/jpeg", odd, "shot.jpeg", "image/jpeg"],
    ["shot.txt", "image/png", png, "shot.txt.png", "image/png"],
    ["audio-1", "audio/wav", odd, "audio-1.wav", "audio/wav"],
    ["report", "application/pdf", odd, "report.pdf", "application/pdf"],
    ["data.csv", "", odd, "data.csv", "text/csv"],
    ["thing", "", odd, "thing", "application/octet-stream"],
    ["x".repeat(300), "image/png", png, `${"x".repeat(100)}.png`, "image/png"],
  ] as const)
    assert.deepEqual(namedAs(wanted, declared, content), { name, mime }, wanted);
});

test("several files of one result have names of their own", async () => {
  const kept: string[] = [];
  const put = async (_: unknown, { name, mime }: { readonly name: string; readonly mime: string }) => {
    kept.push(`${name} ${mime}`);
    return { name, mime, blob: "b", bytes: 1 };
  };
  const data = png.toString("base64");
  const blob = (uri: string, mimeType?: string): Content => ({
    type: "resource",
    resource: { uri, blob: data, mimeType },
  });
  const content: readonly Content[] = [
    { type: "image", data, mimeType: "image/png" },
    { type: "image", data, mimeType: "image/png" },
    { type: "audio", data: odd.toString("base64"), mimeType: "audio/mpeg" },
    blob("file:///notes/my%20shot.png?x=1"),
    blob("demo://resource/blob/1", "text/plain"),
    blob("odd:%E0%A4%A", "image/png"),
    blob(""),
  ];
  await resultOf({ content }, { blobs: { put } });
  assert.deepEqual(kept, [
    "image-1.png image/png",
    "image-2.png image/png",
    "audio-3.mp3 audio/mpeg",
    "my shot.png image/png",
    "1.png image/png",
    "%E0%A4%A.png image/png",
    "resource.png image/png",
  ]);
});
