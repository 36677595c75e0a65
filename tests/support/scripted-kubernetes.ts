import type { KubernetesApi, StreamOptions } from "../../apps/kubernetes/client.ts";
import { KubernetesError } from "../../apps/kubernetes/kubernetes-error.ts";

/** A watch that the test speaks for. */
export interface OpenWatch {
  readonly query: URLSearchParams;
  /** The response begins. */
  begin(): void;
  /** Bytes of it; documents become lines. */
  write(...lines: readonly (object | string | Uint8Array)[]): void;
  end(): void;
  fail(error: Error): void;
  readonly isOver: boolean;
}

type Answer = object | Error;

/** An API server in place of a client: each list gets the next answer, each watch is the test's. */
export function scriptedKubernetes() {
  const lists: URLSearchParams[] = [];
  const watches: OpenWatch[] = [];
  const answers: Answer[] = [];
  const client: KubernetesApi = {
    request: async (_method, path) => {
      lists.push(new URLSearchParams(path.split("?")[1]));
      const answer = answers.shift() ?? new KubernetesError(0, "", "no answer");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    stream: (path, options) => new Promise((resolve, reject) => watches.push(openWatch(path, options, resolve, reject))),
  };
  return { client, lists, watches, answers };
}

function openWatch(path: string, options: StreamOptions, resolve: () => void, reject: (error: Error) => void): OpenWatch {
  let isOver = false;
  const over = (run: () => void) => {
    if (isOver) return;
    isOver = true;
    run();
  };
  const fail = (error: Error) => over(() => reject(error));
  options.signal.addEventListener("abort", () => fail(new KubernetesError(0, "", "broken off")));
  return {
    query: new URLSearchParams(path.split("?")[1]),
    begin: () => options.begun(),
    write(...lines) {
      for (const line of lines) {
        try {
          options.bytes(
            line instanceof Uint8Array ? line : Buffer.from(typeof line === "string" ? line : `${JSON.stringify(line)}\n`),
          );
        } catch (thrown) {
          fail(thrown as Error);
        }
      }
    },
    end: () => over(resolve),
    fail,
    get isOver() {
      return isOver;
    },
  };
}

/** A list, or a page of one. */
export function listOf(resourceVersion: string, names: readonly string[], next = ""): object {
  return {
    metadata: { resourceVersion, ...(next !== "" && { continue: next }) },
    items: names.map((name) => objectOf(name, "1")),
  };
}

export function objectOf(name: string, resourceVersion: string): object {
  return { metadata: { name, resourceVersion } };
}

export function eventOf(type: string, name: string, resourceVersion: string): object {
  return { type, object: objectOf(name, resourceVersion) };
}
