// What one call gets beyond the default view of its sandbox. A grant is shown to an approver before it is given, it is
// part of the digest of the approval, and it ends with the call. Pure.

/** A folder or file outside the workspace. */
export type PathGrant = { readonly path: string; readonly access: "read" | "write" };

/**
 * A credential that a broker outside of the sandbox uses for this call, for this destination only. The secret itself never
 * enters the sandbox.
 */
export type CredentialGrant = { readonly kind: "ssh-agent" | "git-credential"; readonly host: string };

export type Grant = {
  /** `host` or `host:port`; "*.example.org" covers names below it, "*" is every public host. */
  readonly hosts: readonly string[];
  readonly paths: readonly PathGrant[];
  readonly credentials: readonly CredentialGrant[];
  /** The call runs outside of the sandbox, with all rights of the user that runs the gateway. */
  readonly outside: boolean;
};

export const noGrant: Grant = { hosts: [], paths: [], credentials: [], outside: false };

export function isEmptyGrant({ hosts, paths, credentials, outside }: Grant): boolean {
  return hosts.length + paths.length + credentials.length === 0 && !outside;
}
