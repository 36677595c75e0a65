import type { Parser } from "../../core/contract/parser.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { Instance } from "./listed.ts";
import { trialHost } from "./trial-host.ts";

/** What a parser serves, and what its responses have. */
export interface ParserMade extends Pick<Parser, "routes" | "responses"> {
  readonly instance: Instance;
}

/**
 * The parsers among the instances, in their order. Only a parser itself knows its paths, so each one is made for a moment. Undefined if one
 * can't be made, which is reported where it is listed.
 */
export function parsersMade(instances: readonly Instance[]): readonly ParserMade[] | undefined {
  const all = instances.filter(({ definition }) => definition.kind === "parser").map(made);
  return all.some((each) => each === undefined) ? undefined : all.flatMap((each) => each ?? []);
}

function made(instance: Instance): ParserMade | undefined {
  const { entry, definition, path, report } = instance;
  const stopping = new AbortController();
  try {
    const parser = definition.create(entry.parameters, trialHost(entry, stopping.signal)) as Parser;
    const { routes, responses } = parser;
    parser.dispose?.();
    return { instance, routes, ...(responses && { responses }) };
  } catch (thrown) {
    report(path, { found: "a parser that can't be made", hint: thrownMessage(thrown) });
    return undefined;
  } finally {
    stopping.abort();
  }
}
