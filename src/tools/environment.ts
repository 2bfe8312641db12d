// What the programs of tools may see of the gateway's environment: what a person's shell would need to work, and nothing
// that is the gateway's own. A list of what is allowed, because nobody can list everything that is secret. Pure.

type Variables = Readonly<Record<string, string | undefined>>;

const allowed: ReadonlySet<string> = new Set([
  ..."PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR HOSTNAME".split(" "),
  ..."XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME DBUS_SESSION_BUS_ADDRESS".split(" "),
  ..."JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV".split(" "),
  ..."HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy".split(" "),
  ..."SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(" "),
  // Which home's gateway they run inside, so that none of them stops it by mistake.
  "EVERTURN_INSIDE",
]);

/** Programs of Windows do not start without these; their names are written in any way. */
const onWindows: ReadonlySet<string> = new Set(
  "SYSTEMROOT WINDIR COMSPEC PATHEXT PATH TEMP TMP USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS".split(
    " ",
  ),
);

function isAllowed(name: string): boolean {
  return allowed.has(name) || name.startsWith("LC_") || onWindows.has(name.toUpperCase());
}

/** An address that carries a password is a secret, whatever it is the address of. */
function holdsPassword(name: string, value: string): boolean {
  return /proxy$/i.test(name) && /\/\/[^/@]*@/.test(value);
}

/** No terminal and nobody who could page, edit or type. */
const always: Readonly<Record<string, string>> = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  DEBIAN_FRONTEND: "noninteractive",
};

export function toolEnvironment(env: Variables, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = Object.entries(env).filter(
    (one): one is [string, string] => one[1] !== undefined && isAllowed(one[0]) && !holdsPassword(one[0], one[1]),
  );
  return { ...Object.fromEntries(own), ...always, ...extra };
}

/** They tell of the user's own session, which a program in the sandbox has none of. */
const ofSession = /^(?:HOME|USER|LOGNAME|SHELL|TMPDIR|HOSTNAME|XDG_\w+|DBUS_\w+|\w+_proxy|EVERTURN_INSIDE)$/i;

/** The same for programs in a sandbox, which has a HOME and a way to the network of its own. */
export function sandboxEnvironment(env: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(toolEnvironment(env)).filter(([name]) => !ofSession.test(name)));
}
