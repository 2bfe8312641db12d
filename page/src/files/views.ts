// Files as people see them: pictures small and in their place, everything else by name and size, each to be downloaded.

import { type ComponentChild, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { App } from "../app.ts";
import type { FileRef } from "../net/wire.ts";
import { arrowDown, close, paper, turn } from "../views/icons.ts";
import { type Address, isFresh } from "./addresses.ts";
import type { Attachment } from "./attachments.ts";

/** The pictures that the gateway lets a browser draw. */
const pictures = /^image\/(?:png|jpeg|gif|webp|avif)$/;

export function FilesView({ app, files }: { readonly app: App; readonly files: readonly FileRef[] }): ComponentChild {
  const shown = files.filter((file) => pictures.test(file.mime));
  const others = files.filter((file) => !pictures.test(file.mime));
  return h(
    "ul",
    { class: "files", "aria-label": files.length === 1 ? "A file" : `${files.length} files` },
    shown.map((file) => h("li", { key: file.blob }, h(Picture, { app, file }))),
    others.map((file) => h("li", { key: file.blob }, h(Download, { app, file }))),
  );
}

function Picture({ app, file }: { readonly app: App; readonly file: FileRef }): ComponentChild {
  const { address, renew } = useAddress(app, file, true);
  return h(
    "figure",
    { class: "picture" },
    h(
      "a",
      {
        href: address?.url,
        target: "_blank",
        rel: "noopener noreferrer",
        "aria-label": `Open ${file.name}`,
        onClick: (event: MouseEvent) => void openFresh(event, address, renew),
      },
      h("img", { src: address?.url, alt: file.name, loading: "lazy", decoding: "async", onError: () => void renew() }),
    ),
    h("figcaption", {}, h(Download, { app, file })),
  );
}

function Download({ app, file }: { readonly app: App; readonly file: FileRef }): ComponentChild {
  const { address, renew } = useAddress(app, file, false);
  return h(
    "a",
    {
      class: "file",
      href: address?.url,
      download: file.name,
      title: `Download ${file.name}`,
      onClick: (event: MouseEvent) => void openFresh(event, address, renew),
    },
    paper(),
    h("span", { class: "name", dir: "auto" }, file.name),
    h("span", { class: "size" }, bytesOf(file.bytes)),
    arrowDown(),
  );
}

type Signing = { readonly address: Address | null; readonly renew: () => Promise<Address | null> };

/** The signed address of a file, as soon as the gateway gave one. */
function useAddress(app: App, file: FileRef, show: boolean): Signing {
  const [address, setAddress] = useState<Address | null>(null);
  const renew = async () => {
    const found = await app.address(file, show);
    if (found !== null) setAddress(found);
    return found;
  };
  useEffect(() => void renew(), [file.blob]);
  return { address, renew };
}

/** An address that has expired meanwhile is replaced before it is opened. */
async function openFresh(event: MouseEvent, address: Address | null, renew: Signing["renew"]): Promise<void> {
  if (address !== null && isFresh(address, Date.now())) return;
  event.preventDefault();
  const link = event.currentTarget as HTMLAnchorElement;
  const found = await renew();
  if (found === null) return;
  link.href = found.url;
  link.click();
}

/** Small, beside the name of what is to be sent. */
function Thumbnail({ app, file }: { readonly app: App; readonly file: FileRef }): ComponentChild {
  return h("img", { src: useAddress(app, file, true).address?.url, alt: "" });
}

/** Above the field: what will go with the next message. */
export function Chips({ app }: { readonly app: App }): ComponentChild {
  const list = app.files.list.value;
  if (list.length === 0) return null;
  return h(
    "ul",
    { class: "chips", "aria-label": "Attached files" },
    list.map((one) => h("li", { key: one.id, class: `chip ${one.state.type}` }, h(Chip, { app, one }))),
  );
}

function Chip({ app, one }: { readonly app: App; readonly one: Attachment }): ComponentChild {
  const { state } = one;
  const isPicture = state.type === "ready" && pictures.test(state.file.mime);
  return [
    isPicture ? h(Thumbnail, { app, file: state.file }) : paper(),
    h("span", { class: "name", dir: "auto" }, one.name),
    h(
      "span",
      { class: "size", role: state.type === "failed" ? "alert" : undefined },
      state.type === "failed" ? state.why : bytesOf(one.bytes),
    ),
    state.type === "sending" &&
      h("progress", { value: state.part, max: 1, "aria-label": `${one.name} is being uploaded` }),
    state.type === "failed" &&
      state.again &&
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-label": `Try ${one.name} again`,
          onClick: () => app.files.retry(one.id),
        },
        turn(),
      ),
    h(
      "button",
      { type: "button", class: "quiet", "aria-label": `Remove ${one.name}`, onClick: () => app.files.remove(one.id) },
      close(),
    ),
  ];
}

export function bytesOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
