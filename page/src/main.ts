// The beginning of the page. The theme is set before the first paint; everything else waits for the document.

import { h, render } from "preact";
import { createApp } from "./app.ts";
import { client } from "./net/client.ts";
import { credentialIn } from "./net/credential.ts";
import { keepIn } from "./pending.ts";
import { applyTheme, storedTheme } from "./theme.ts";
import { Shell } from "./views/shell.ts";

function start(): void {
  const keep = keepIn(window.localStorage);
  applyTheme(storedTheme(keep), document.documentElement);
  document.addEventListener("DOMContentLoaded", () => {
    const credential = credentialIn(keep);
    render(h(Shell, { app: createApp(window, keep, client("web", credential), credential) }), document.body);
  });
}

start();
