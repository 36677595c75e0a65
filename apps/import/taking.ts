import { DEFAULT_SCORERS } from "../../config/plugins/defaults.ts";
import type { Path } from "../../config/read/problems.ts";
import { z } from "../../core/contract/options.ts";
import type { Draft } from "./draft.ts";
import { leftOut, noMeaning, notUnderstood, type Taken } from "./finding.ts";

/** A setting with its value, as a source has it. */
export interface Given {
  /** As it is written there. */
  readonly name: string;
  readonly line: number;
  /** The first of its words on a command line, or data. */
  readonly value: unknown;
  /** All words of it; the value as a text where it is data. */
  readonly words: readonly string[];
  /** The line of what is below it, where it is data. */
  lineAt(below: Path): number;
}

/** Takes a setting into the config, or says why not. */
export type Take = (given: Given, draft: Draft) => Taken;

interface Wanted {
  readonly path: string;
  /** The value here for one there. */
  readonly scale?: number;
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
  /** What is different; left out where nothing is. */
  readonly why?: string;
}

/** Takes a number over, times `scale`. */
export function takeNumber({ path, scale = 1, min, max, isWhole = true, why }: Wanted): Take {
  return ({ name, value }, draft) => {
    const number = numberOf(value);
    if (number === undefined) return notUnderstood("a number is wanted");
    const scaled = isWhole ? Math.round(number * scale) : number * scale;
    if (scaled < min || scaled > max) return notUnderstood(`${path} takes ${min} to ${max}, not ${scaled}`);
    draft.set(path, scaled, name);
    return why === undefined ? ["taken over", `spec.${path}`] : ["changed", `spec.${path}: ${why}`];
  };
}

/** The number that a text or a number says; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Sets a text. */
function takeText(path: string): Take {
  return ({ name, value }, draft) => {
    const text = z.string().min(1).safeParse(value);
    if (!text.success) return notUnderstood("a text is wanted");
    if (text.data.includes("$")) return notUnderstood("it has a variable in it: write its value");
    draft.set(path, text.data, name);
    return ["taken over", `spec.${path}`];
  };
}

/** A choice among words that each mean something else. */
export function takeChoice(choices: Readonly<Record<string, Take>>): Take {
  return (given, draft) => {
    const take = Object.hasOwn(choices, String(given.value)) ? choices[String(given.value)] : undefined;
    return take === undefined ? notUnderstood(`it wants one of ${Object.keys(choices).join(", ")}`) : take(given, draft);
  };
}

/** A profile of these plugins. */
export function takeProfile(types: readonly string[], why?: string): Take {
  return ({ name }, draft) => {
    draft.setProfile(types, name);
    return why === undefined ? ["taken over", "spec.profiles"] : ["changed", `spec.profiles: ${why}`];
  };
}

const SECRET = "the config names where a key is and never holds one: put it into a variable or a file, and write";

/** A key of replicas that stands in the source itself: it is not repeated. `where` is the section that names it. */
export const secretLeftOut = (where: string): Taken => ["left out", `${SECRET} ${where}`];

/** A key in a variable: taken over where it is set here, since a config whose key is missing does not load. */
export function keyInVariable(variable: string): { readonly bearer: string } | undefined {
  return process.env[variable] === undefined ? undefined : { bearer: `env:${variable}` };
}

/** Replicas by their addresses; each that is not taken is a finding with its number. */
export function takeReplicas({ name, line }: Given, addresses: readonly string[], draft: Draft): Taken {
  if (addresses.length === 0) return notUnderstood("it names no address");
  const taken = addresses.map((address) => draft.addEndpoint(address));
  for (const [index, each] of taken.entries())
    if (each[0] !== "taken over") draft.find(`${name} (address ${index + 1})`, line, each);
  return ["taken over", `spec.pool.endpoints, ${taken.filter(([effect]) => effect === "taken over").length} of ${taken.length}`];
}

// What several routers have.

/** Ports that clients connect to. */
export const takePort = takeNumber({ path: "listen.port", min: 0, max: 65_535 });
export const takeHost = takeText("listen.host");

export const DEFAULT_PROFILE =
  "the default profile: it weighs the prompt's cached tokens at each replica against the work that waits there";
/** A client that a header or a key binds to a replica there. The token is the router's: a header of the client's own choice names no replica. */
export const takeSessions = takeProfile(
  ["session-affinity-filter", ...DEFAULT_SCORERS.map(([type]) => type)],
  "session-affinity-filter binds a client that sends back the x-session-token of its last response; others go by the default profile, which keeps a conversation where its beginning is cached",
);
export const takeFewestRequests = takeProfile(
  ["active-request", "max-score"],
  "the fewest requests under way, as this router counts them",
);

export const takeResponseTimeout = takeNumber({
  path: "limits.responseTimeoutMs",
  scale: 1000,
  min: 1,
  max: 2 ** 31 - 1,
  why: "until a response begins; a stream may go on",
});
export const RETRIES = "a request that a replica has got is not sent to another one, unless that one refused it";
export const takeRetries = takeNumber({ path: "limits.retries", min: 0, max: 100, why: RETRIES });

/** How long a replica whose responses fail is out of the pool. */
export const takeEjectionTime = takeNumber({
  path: "ejection.baseSeconds",
  min: 1,
  max: 300,
  isWhole: false,
  why: "for the first time; each further time is twice as long",
});

export const PAIRS = "label the replicas and write spec.disaggregation (docs/disaggregation.md)";
export const OTLP = leftOut("list the plugin otel-traces: it speaks OTLP over HTTP (port 4318), not gRPC");
export const LOGS = noMeaning("logs go to the standard output and the standard error");
