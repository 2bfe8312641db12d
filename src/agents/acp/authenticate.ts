// Logs in to an agent that asks for it, with the method that its environment has a key for. A login is repeated only after
// the agent has worked with the one before, so a key that does not work is reported and not retried.

import { sentenceOf } from "../../core/fault.ts";
import type { AcpOptions } from "./options.ts";
import { decideLogin, loginFault, loginMethods } from "./login.ts";
import { AcpTrouble } from "./trouble.ts";

/** The agent refuses to work before a login; `said` is its own reason. */
export class LoginNeeded extends AcpTrouble {
  readonly said: string;
  constructor(name: string, said: string) {
    super("never", `the agent ${name} needs a login`, 0, { code: "agent-login" });
    this.said = said;
  }
}

export interface Authenticator {
  /** Asks, and asks again after a login where the agent needs one. */
  ask<T>(request: () => Promise<T>): Promise<T>;
  /** Rejects with what the user has to do. */
  logIn(refusal: LoginNeeded): Promise<void>;
  /** The agent has answered a prompt, so its login is good. */
  worked(): void;
}

export function authenticator(
  { program, log }: AcpOptions,
  name: string,
  offered: unknown,
  authenticate: (methodId: string) => Promise<unknown>,
): Authenticator {
  const { env = {} } = program;
  const login = decideLogin(name, loginMethods(offered), env);
  let isTried = false;
  let refusal = "";

  async function logIn({ said }: LoginNeeded): Promise<void> {
    const fault = (reason: string) =>
      new AcpTrouble("never", loginFault(name, login, env, reason), 0, { code: "agent-login" });
    if (login.type !== "use" || isTried) throw fault(refusal || said);
    isTried = true;
    const { method, variables } = login;
    try {
      await authenticate(method.id);
    } catch (error) {
      refusal = error instanceof LoginNeeded ? error.said : sentenceOf(error);
      throw fault(refusal);
    }
    log("info", "logged in to the ACP agent", { method: method.id, variables: variables.join(" ") });
  }

  return {
    logIn,
    worked: () => {
      isTried = false;
    },
    async ask(request) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof LoginNeeded)) throw error;
        await logIn(error);
      }
      try {
        return await request();
      } catch (error) {
        if (error instanceof LoginNeeded) await logIn(error);
        throw error;
      }
    },
  };
}
