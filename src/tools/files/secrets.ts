// Files that hold secrets, known by their names and by the folders they are in. Pure.

/** Folders below which everything is secret, as they stand in a path. */
const folders: readonly RegExp[] = [
  /\/\.ssh(?:\/|$)/i,
  /\/\.gnupg(?:\/|$)/i,
  /\/\.(?:aws|azure|kube|password-store|oci|aliyun|terraform\.d)(?:\/|$)/i,
  /\/\.config\/(?:gcloud|gh|glab-cli|hub|op|doctl|rclone|heroku|stripe|containers\/auth\.json)(?:\/|$)/i,
  /\/\.local\/share\/(?:keyrings|kwalletd)(?:\/|$)/i,
  /\/library\/(?:keychains|cookies)(?:\/|$)/i,
  /\/\.(?:mozilla|thunderbird)(?:\/|$)/i,
  /\/\.config\/(?:google-chrome|chromium|bravesoftware|microsoft-edge|vivaldi|opera)[^/]*(?:\/|$)/i,
  /\/(?:snap|\.var\/app)\/[^/]*(?:firefox|chromium|chrome)[^/]*(?:\/|$)/i,
  /\/library\/application support\/(?:google\/chrome|firefox|bravesoftware|microsoft edge|vivaldi|1password)/i,
  /\/\.(?:bitcoin|electrum|ethereum|solana)(?:\/|$)/i,
  /^\/(?:var\/)?run\/(?:secrets|credentials)(?:\/|$)/,
  /^\/etc\/(?:shadow|gshadow|sudoers|sudoers\.d|krb5\.keytab|master\.passwd)-?(?:\/|$)/i,
  /^\/etc\/(?:ssl\/private|wireguard|ipsec\.secrets|letsencrypt\/(?:live|archive))(?:\/|$)/i,
  /^\/etc\/ssh\/ssh_host_[^/]*_key$/i,
  /^\/proc\/(?:[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|maps|auxv|fd(?:\/.*)?|cwd\/.*|root\/.*)|kcore)$/,
  /^\/dev\/(?:k?mem$|port$|[shvx]v?d[a-z]|nvme|mmcblk|r?disk|mapper\/|dm-)/,
];

/** Names of files that are secret wherever they are. */
const names: readonly RegExp[] = [
  /^\.env(?:\..*)?$/i,
  /^[^/]+\.env$/i,
  /^\.envrc$/i,
  /^[._]netrc$/i,
  /^\.(?:pgpass|my\.cnf|npmrc|pypirc|yarnrc\.yml|git-credentials|htpasswd|vault-token|dockercfg|xauthority|s3cfg|boto)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
  /\.(?:pem|key|p12|pfx|p8|keystore|jks|kdbx?|ppk|keytab|tfvars|asc)$/i,
  /\.keychain(?:-db)?$/i,
  /^credentials?(?:\.(?:json|ya?ml|toml|ini|db|csv|txt|enc|xml))?$/i,
  /^\.?secrets?\.(?:json|ya?ml|toml|env|txt|ini|enc)$/i,
  /^control\.token$/i,
  /\.token$/i,
  /^(?:service[-_]?account|client[-_]secret|application_default_credentials)[^/]*\.json$/i,
  /^\.(?:bash|zsh|sh|python|node_repl|psql|mysql|sqlite|rediscli)_history$/i,
  /^(?:terraform\.tfstate|wallet\.dat|kubeconfig|key[34]\.db|logins\.json|cookies\.sqlite)$/i,
];

/** Look-alikes that hold nothing secret. */
const harmless: readonly RegExp[] = [
  /^\.env\.(?:example|sample|template|dist|defaults?|schema)$/i,
  /\.pub$/i,
  /^known_hosts(?:\.old)?$/i,
  /^(?:public|cert|certs|ca|cacert|ca-certificates|fullchain|chain)[-_.\w]*\.pem$/i,
];

/** Names whose patterns are tried against a glob, because a glob has to be compared with something. */
const samples: readonly string[] = [
  ".env .env.local .envrc .netrc .pgpass .npmrc .git-credentials .ssh .gnupg .aws .kube .password-store .mozilla",
  "id_rsa id_ed25519 server.key server.pem credentials credentials.json secrets.json secrets.yaml control.token",
  "shadow gshadow sudoers environ .bash_history .zsh_history",
].flatMap((line) => line.split(" "));

/** `path` is absolute, with slashes. */
export function isSecret(path: string): boolean {
  const clean = path.replace(/\/+$/, "");
  const name = clean.slice(clean.lastIndexOf("/") + 1);
  if (harmless.some((one) => one.test(name))) return false;
  return names.some((one) => one.test(name)) || folders.some((one) => one.test(clean));
}

/** A pattern of a shell that names a secret without spelling it: `.e*`, `/etc/shad?w`. A bare `*` means everybody. */
export function globsSecret(path: string): boolean {
  const parts = path.split("/");
  return parts.some((part, at) => {
    if (!/[*?[]/.test(part) || /^\**$/.test(part)) return false;
    const pattern = globPattern(part);
    const before = parts.slice(0, at).join("/");
    return samples.some(
      (sample) => pattern.test(sample) && isSecret(`${before}/${[sample, ...parts.slice(at + 1)].join("/")}`),
    );
  });
}

/** Whether a pattern stands for that name. One with a dot before it is not meant by a bare *. */
export function globFits(part: string, name: string): boolean {
  return name.startsWith(".") === part.startsWith(".") && globPattern(part).test(name);
}

/** The pattern of one name, without the right to reach across slashes. */
export function globPattern(part: string): RegExp {
  const source = part.replace(/\[!|[.+^${}()|\\]|\*+|\?/g, (found) => {
    if (found === "[!") return "[^";
    if (found === "?") return "[^/]";
    return found.startsWith("*") ? "[^/]*" : `\\${found}`;
  });
  try {
    return new RegExp(`^${source}$`, "i");
  } catch {
    // A class that is none; it then stands for anything.
    return /^[^/]*$/;
  }
}
