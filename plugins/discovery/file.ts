import { resolve } from "node:path";
import type { EndpointSpec } from "../../core/contract/endpoint.ts";
import { endpointName, endpointsAt } from "../../core/contract/endpoint-url.ts";
import { z } from "../../core/contract/options.ts";
import { defineDiscovery } from "../../core/contract/plugin.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { readBounded, readBoundedNow } from "../../core/runtime/read-file.ts";

const MOST_BYTES = 4 * 1024 * 1024;
const WRITE = 'Write [ { "url": "http://gpu1:8000", "labels": {} } ].';

const options = z.strictObject({
  /** Relative to the config file. The file is a JSON list of { url, name?, ports?, labels? }, as in spec.pool.endpoints. */
  path: z.string().min(1),
  /** How often the file is read; what is changed by renaming, in a mounted volume or over a network is noticed too. */
  periodSeconds: z.number().min(0.1).max(86_400).default(1),
});

const entries = z.array(
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    /** Of data-parallel ranks; each is an endpoint. */
    ports: z.array(z.int().min(1).max(65_535)).min(1).max(64).exactOptional(),
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
      .optional(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
);

/**
 * A file that can't be read or is no valid list is an error at the start. Later the last list stays, over reloads too, with one
 * warning: only when the same fault was seen twice, since a writer may have been in the middle.
 */
export default defineDiscovery({
  type: "file",
  summary: "The endpoints that a watched JSON file lists.",
  options,
  create({ path: written, periodSeconds }, { clock, log, folder, signal, keep }) {
    const path = resolve(folder, written);
    const last = keep(1, (): LastList => ({ path: "", text: "" }));
    let lastText = "";
    let fault = "";
    let isReported = false;
    let readAtMs = Number.NaN;
    let cancel = () => {};

    const take = (text: string, found: (specs: readonly EndpointSpec[]) => void) => {
      if (text !== lastText) {
        const specs = readList(text);
        if (lastText !== "") log.info("The endpoints file has changed", { path, endpoints: specs.length });
        found(specs);
      }
      lastText = text;
      last.path = path;
      last.text = text;
      fault = "";
      isReported = false;
      readAtMs = clock.now();
    };
    const failed = (thrown: unknown) => {
      const cause = thrownMessage(thrown);
      if (cause === fault && !isReported) {
        log.warn("The endpoints file can't be used; the last list stays", { path, cause });
        isReported = true;
      }
      fault = cause;
    };
    return {
      get trouble() {
        return isReported ? { text: `The endpoints file ${path} can't be used: ${fault}`, sinceMs: readAtMs } : undefined;
      },
      start(found) {
        try {
          take(textOf(readBoundedNow(path, MOST_BYTES)), found);
        } catch (thrown) {
          if (last.path !== path) throw new Error(`The endpoints file ${path} can't be used: ${thrownMessage(thrown)}`);
          // A change of the config has nothing to do with it.
          failed(thrown);
          found(readList(last.text));
          lastText = last.text;
        }
        const look = async () => {
          try {
            const text = textOf(await readBounded(path, MOST_BYTES));
            if (!signal.aborted) take(text, found);
          } catch (thrown) {
            failed(thrown);
          }
          if (!signal.aborted) cancel = clock.after(periodSeconds * 1_000, () => void look());
        };
        cancel = clock.after(periodSeconds * 1_000, () => void look());
      },
      dispose: () => cancel(),
    };
  },
});

/** The list that was read last, from which file. */
interface LastList {
  path: string;
  text: string;
}

/** Throws an Error for a huge file. */
function textOf(bytes: Buffer): string {
  if (bytes.length > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
  return bytes.toString("utf8");
}

/** Throws an Error that says what is wrong with the text. */
function readList(text: string): readonly EndpointSpec[] {
  const list = entries.safeParse(parseJson(text));
  if (!list.success) {
    const [issue] = list.error.issues;
    throw new Error(`${issue?.path.join(".") || "the list"}: ${issue?.message}. ${WRITE}`);
  }
  const specs = list.data.flatMap(({ url, name, ports, labels }) => {
    if (ports === undefined) return [{ name: name ?? nameFor(new URL(url)), url, labels }];
    return endpointsAt({ url, name, ports }).map((rank) => ({ name: rank.name, url: rank.url.href, labels }));
  });
  const names = new Set<string>();
  for (const { name } of specs) {
    if (names.has(name)) throw new Error(`Two endpoints have the name "${name}": give each its own.`);
    names.add(name);
  }
  return specs;
}

function nameFor({ hostname, port, protocol, pathname }: URL): string {
  const basePath = pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  const usual = protocol === "https:" ? 443 : 80;
  return endpointName({ hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || usual, basePath });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engines' own messages differ, and quote the text.
    throw new Error(`It is not JSON. ${WRITE}`);
  }
}
