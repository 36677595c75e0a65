import { encodeName, spliceMembers, spliceModel, spliceText } from "../body/splice.ts";
import type { BodyMember } from "../contract/body-member.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Run } from "../run.ts";

/** What is sent of a body, and who has changed it; see Draft. */
export interface SentBody {
  readonly parts: readonly Uint8Array[];
  readonly changedBy: readonly string[];
}

const NONE: readonly BodyMember[] = [];
const NOBODY: readonly string[] = [];
const MODEL = "model";

/**
 * The one owner of the bytes that are sent: whoever changes a body says so here, as a member of the request, as one of the try (`members`), or
 * with another body in the client's place (`Run.takeBuffer`). A coded body goes as it was received only where nobody has.
 */
export function sentBody(
  request: InferenceRequest,
  { bodyBy, decoder }: Pick<Run, "bodyBy" | "decoder">,
  members = NONE,
): SentBody {
  const written = membersOf(request, members);
  const parts = written.length > 0 ? spliceMembers(request.body, withModel(request, written)) : namedBody(request);
  const isRenamed = parts.length > 1 && request.target !== request.model;
  if (bodyBy !== "" || written.length > 0 || isRenamed) return { parts, changedBy: writersOf(bodyBy, written, isRenamed) };
  return { parts: decoder?.original === undefined ? parts : [decoder.original], changedBy: NOBODY };
}

/** One member for each key, that of its last writer. A body that is no JSON object, or without a model, takes those of the try alone. */
function membersOf(
  { written = NONE, modelSpan, modelIn }: InferenceRequest,
  members: readonly BodyMember[],
): readonly BodyMember[] {
  if (modelIn !== undefined) return NONE;
  if (modelSpan[0] < 0 || written.length === 0) return members;
  return [...written, ...members].filter(({ key }, index, all) => all.findLastIndex((other) => other.key === key) === index);
}

function withModel({ target, modelSpan }: InferenceRequest, members: readonly BodyMember[]): readonly BodyMember[] {
  // It may have none.
  return modelSpan[0] < 0 ? members : [...members, { key: MODEL, span: modelSpan, value: encodeName(target) }];
}

/** The body with the target's name where the client's stands; its bytes alone where that is no other one. */
function namedBody({ body, model, target, modelSpan, modelIn }: InferenceRequest): readonly Uint8Array[] {
  if (modelIn === "text") return target === model ? [body] : spliceText(body, modelSpan, target);
  return modelIn === "target" || modelSpan[0] < 0 ? [body] : spliceModel(body, modelSpan, target);
}

function writersOf(bodyBy: string, members: readonly BodyMember[], isRenamed: boolean): readonly string[] {
  const writers = new Set(bodyBy === "" ? NOBODY : [bodyBy]);
  for (const { by = "parser" } of members) writers.add(by);
  if (isRenamed) writers.add(MODEL);
  return [...writers];
}
