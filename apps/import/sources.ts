import { didYouMean } from "../../config/read/problems.ts";
import { endpointPicker } from "./endpoint-picker.ts";
import { ImportError } from "./import-error.ts";
import { litellm } from "./litellm.ts";
import { nginx } from "./nginx.ts";
import { productionStack } from "./production-stack.ts";
import { smg } from "./smg.ts";
import type { Source, SourceText } from "./source.ts";
import { productionStackValues } from "./values.ts";
import { vllmRouter } from "./vllm-router.ts";

/** Every kind of config that is imported. The first that recognises a text has it. */
const SOURCES: readonly Source[] = [endpointPicker, litellm, productionStackValues, nginx, productionStack, smg, vllmRouter];

const KINDS = SOURCES.map(({ kind }) => kind).join(", ");

/** The first kind that recognises a text. */
export function recognised(source: SourceText): Source | undefined {
  return SOURCES.find((each) => each.recognises(source));
}

/** The source of a text: that which is named, else the first that recognises it. Throws ImportError. */
export function sourceOf(named: string | undefined, source: SourceText): Source {
  const found = named === undefined ? recognised(source) : SOURCES.find(({ kind }) => kind === named);
  if (found !== undefined) return found;
  if (named !== undefined) {
    const meant = didYouMean(
      named,
      SOURCES.map(({ kind }) => kind),
    );
    throw new ImportError(`--from wants one of ${KINDS}, not "${named}". ${meant}`.trimEnd(), true);
  }
  throw new ImportError(`${source.file} is nothing that is recognised; name what it is with --from: ${KINDS}.`, true);
}
