import { encodeName, spliceMembers, spliceModel, spliceText } from "../body/splice.ts";
import type { BodyMember } from "../contract/body-member.ts";
import type { Draft } from "../contract/draft.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Run } from "../run.ts";

const NONE: readonly BodyMember[] = [];
const NOBODY: readonly string[] = [];

/**
 * The one owner of the bytes that are sent: whoever changes a body says so here, as a member of the request, as one of the try (`members`), or
 * with another body in the client's place (`Run.takeBuffer`). A coded body goes as it was received only where nobody has.
 */
export function sentBody(
  request: InferenceRequest,
  { bodyBy, decoder }: Pick<Run, "bodyBy" | "decoder">,
  members = NONE,
): Pick<Draft, "body" | "changedBy"> {
  const written = membersOf(request, members);
  const body = written.length > 0 ? spliceMembers(request.body, withModel(request, written)) : namedBody(request);
  const isRenamed = body.length > 1 && request.target !== request.model;
  if (bodyBy === "" && written.length === 0 && !isRenamed)
    return { body: decoder?.original === undefined ? body : [decoder.original], changedBy: NOBODY };
  const writers = [bodyBy, ...written.map(({ by = "parser" }) => by), isRenamed ? "model" : ""];
  return { body, changedBy: [...new Set(writers)].filter((by) => by !== "") };
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
  return modelSpan[0] < 0 ? members : [...members, { key: "model", span: modelSpan, value: encodeName(target) }];
}

/** The body with the target's name where the client's stands; its bytes alone where that is no other one. */
function namedBody({ body, model, target, modelSpan, modelIn }: InferenceRequest): readonly Uint8Array[] {
  if (modelIn === "text") return target === model ? [body] : spliceText(body, modelSpan, target);
  return modelIn === "target" || modelSpan[0] < 0 ? [body] : spliceModel(body, modelSpan, target);
}
