import { UsageError } from "../frame/usage.ts";
import { endpointPicker } from "./endpoint-picker.ts";
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

/** The source of a text: that which is named, else the first that recognises it. Throws UsageError. */
export function sourceOf(named: string | undefined, source: Pick<SourceText, "file" | "text" | "commands">): Source {
  const found =
    named === undefined ? SOURCES.find((each) => each.recognises(source)) : SOURCES.find(({ kind }) => kind === named);
  if (found !== undefined) return found;
  if (named !== undefined) throw new UsageError(`--from wants one of ${KINDS}, not "${named}".`);
  throw new UsageError(`${source.file} is nothing that is recognised; name what it is with --from: ${KINDS}.`);
}
