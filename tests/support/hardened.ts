import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { after } from "node:test";
import { examplePath } from "../examples/example-files.ts";
import { certificateFolder, makeAuthority } from "./certificates.ts";
import { run } from "./cli.ts";
import { isWholeAnswer } from "./raw-client.ts";
import { openTls, type TlsClient } from "./tls-client.ts";

export const TOKENS = { operators: "token-of-the-operators", prometheus: "token-of-prometheus", replicas: "key-of-the-replicas" };

/** The files of examples/hardened/ in a folder of the test's own, with what an operator puts beside them. */
export interface HardenedFiles {
  at(name: string): string;
  /** The certificate of who has signed the router's. */
  readonly authority: string;
  /** Replaces a text of the config, which must be there. */
  edit(text: string | RegExp, by: string): void;
  /** `signalbox key new`; the words are switches. Returns the key. */
  newKey(name: string, ...words: readonly string[]): Promise<string>;
  revoke(name: string): Promise<void>;
}

/** It is removed when the test file ends. */
export function makeHardenedFiles(): HardenedFiles {
  const folder = certificateFolder();
  after(() => folder.remove());
  const authority = makeAuthority("authority.test");
  cpSync(examplePath("hardened"), folder.at("."), { recursive: true });
  for (const name of ["tls", "secrets"]) mkdirSync(folder.at(name));
  folder.write("tls/router", authority.issue({ names: ["router.test", "127.0.0.1"] }));
  for (const [name, text] of Object.entries(TOKENS)) writeFileSync(folder.at(`secrets/${name}`), `${text}\n`);
  const config = folder.at("signalbox.yaml");
  const keys = folder.at("keys.yaml");
  return {
    at: folder.at,
    authority: authority.cert,
    edit(text, by) {
      const before = readFileSync(config, "utf8");
      const edited = before.replace(text, by);
      if (edited === before) throw new Error(`The config has no ${text}`);
      writeFileSync(config, edited);
    },
    newKey: async (name, ...words) => (await run("key", "new", name, "-f", keys, ...words)).out.trim(),
    async revoke(name) {
      await run("key", "revoke", name, "-f", keys);
    },
  };
}

/** A TLS connection from another address of this machine, as another client's would be. */
export function openFrom(address: string, port: number): Promise<TlsClient> {
  return openTls(port, { socket: connect({ port, host: "127.0.0.1", localAddress: address }) });
}

/** What comes back for these bytes, up to the end of the first whole answer or of the connection. */
export async function tellFrom(address: string, port: number, bytes: string): Promise<string> {
  const client = await openFrom(address, port);
  client.send(bytes);
  await client.until(isWholeAnswer).catch(() => {});
  client.close();
  return client.received;
}

/** A client that asks all the time, and notes whatever is not as it should be. */
export class RegularClient {
  served = 0;
  readonly faults: string[] = [];
  readonly #port: number;
  readonly #request: string;
  readonly #isRight: (answer: string) => boolean;
  #isOver = false;
  readonly #asking: Promise<void>;

  constructor(port: number, request: string, isRight: (answer: string) => boolean) {
    this.#port = port;
    this.#request = request;
    this.#isRight = isRight;
    this.#asking = this.#ask();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#asking;
  }

  /** Two requests on each connection. */
  async #ask(): Promise<void> {
    while (!this.#isOver) {
      try {
        const client = await openTls(this.#port);
        for (let begin = 0, n = 0; n < 2; n++, begin = client.received.length) {
          client.send(this.#request);
          await client.until((received) => isWholeAnswer(received.slice(begin)));
          if (this.#isRight(client.received.slice(begin))) this.served += 1;
          else this.faults.push(client.received.slice(begin));
        }
        client.close();
      } catch (thrown) {
        this.faults.push(String(thrown));
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
