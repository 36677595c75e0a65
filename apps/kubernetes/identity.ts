import type { Clock } from "../../core/contract/clock.ts";
import { type Secret, secretOf } from "../../core/contract/secret.ts";

/** Says who the router is to an API server. */
export interface IdentitySource {
  /** Files are read again and programs asked again when what they said is old. Rejects with an Error that says what to change. */
  identity(): Promise<Identity>;
  /** The server has refused them. True if they may be other ones when they are asked for again. */
  forget(): boolean;
}

/** Where an API server is, and who the router is to it. */
export interface Credentials extends IdentitySource {
  /** Without a slash at its end. */
  readonly server: URL;
  /** The name in the server's certificate, if it is not the host's; "" otherwise. */
  readonly serverName: string;
  /** False where the server's certificate is not looked at. */
  readonly isVerified: boolean;
  /** The namespace that goes with them. */
  readonly namespace: string;
  /** Where they come from, for messages. */
  readonly from: string;
}

/** What is shown to the API server, and what its own certificate is compared with. */
export interface Identity {
  /** Certificates in PEM; undefined for those of the system. */
  readonly ca?: string | undefined;
  readonly token?: Secret | undefined;
  readonly certificate?: { readonly chain: string; readonly key: Secret } | undefined;
}

/** What of the process decides which credentials are used. */
export interface Surroundings {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where a pod finds what belongs to its service account. */
  readonly accountFolder?: string;
}

/** A service account's token is renewed long before it ends, by writing its file anew. */
const FILES_HOLD_MS = 60_000;

/** An identity that is in files, which are read now and again after a while. Throws what `read` throws. */
export function heldFiles(clock: Clock, read: () => Identity): IdentitySource {
  let held: Identity | undefined = read();
  let readAtMs = clock.now();
  return {
    async identity() {
      if (held !== undefined && clock.now() - readAtMs < FILES_HOLD_MS) return held;
      held = read();
      readAtMs = clock.now();
      return held;
    },
    forget() {
      held = undefined;
      return true;
    },
  };
}

/** A token as a header can carry it. Throws an Error that names where it comes from. */
export function bearerToken(text: string, from: string): Secret {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return secretOf(token, from);
  throw new Error(`${from} holds no token: ${token === "" ? "it is empty" : "it has a space or a character outside of ASCII"}.`);
}
