/** Where a request names its model. */
export interface ModelPlace {
  /** body: a top-level key of a JSON object, or, where `form` allows it, a field of a form. */
  readonly in: "body" | "path" | "query";
  /** The key, the field, the name in braces, or the query's key. */
  readonly name: string;
}

/** A path, and what is read of its requests. */
export interface ModelPath {
  readonly method: string;
  readonly path: string;
  readonly model: ModelPlace;
  /** Whether the body may be a form (multipart/form-data) as well as JSON. */
  readonly form: boolean;
  /** Top-level keys whose text the replica computes, so that it counts as load. */
  readonly prompt: readonly string[];
  /** Whether a request without a model goes to any ready replica. */
  readonly optional: boolean;
  /** Whether a second delivery would only cost work. */
  readonly repeatable: boolean;
  /** Whether it may continue a response or a conversation that is named in the body. */
  readonly continues?: boolean;
}

const CONTINUES: Partial<ModelPath> = { continues: true };
const FORM: Partial<ModelPath> = { form: true };
const PAIR = ["text_1", "text_2", "queries", "documents", "items", "data_1", "data_2"];
const RERANK = ["query", "documents"];

/** What engines serve beside the APIs that have a parser of their own. None of it changes what a replica keeps. */
export const ENGINE_PATHS: readonly ModelPath[] = [
  ...paths(["/rerank", "/v1/rerank", "/v2/rerank"], RERANK),
  ...paths(["/score", "/v1/score"], PAIR),
  ...paths(["/classify", "/v1/classify", "/pooling"], ["input", "messages"]),
  ...paths(["/v2/embed"], ["texts", "inputs"]),
  ...paths(["/tokenize", "/v1/tokenize", "/detokenize", "/v1/detokenize"], []),
  ...paths(["/v1/completions/render", "/v1/completions/derender"], []),
  ...paths(["/v1/chat/completions/render", "/v1/chat/completions/derender"], []),
  ...paths(["/v1/messages/render"], []),
  ...paths(["/v1/chat/completions/batch"], ["messages"]),
  ...paths(["/v1/responses/compact"], ["instructions", "input"], CONTINUES),
  ...paths(["/v1/responses/input_tokens", "/v1/responses/render"], [], CONTINUES),
  ...paths(["/v1/moderations"], ["input"]),
  ...paths(["/v1/audio/speech"], ["input"]),
  ...paths(["/v1/audio/transcriptions", "/v1/audio/translations"], [], FORM),
  ...paths(["/v1/images/generations"], ["prompt"]),
  ...paths(["/v1/images/edits", "/v1/images/variations"], [], FORM),
];

function paths(all: readonly string[], prompt: readonly string[], more: Partial<ModelPath> = {}): readonly ModelPath[] {
  const usual = { method: "POST", model: { in: "body", name: "model" }, form: false, optional: false, repeatable: true } as const;
  return all.map((path) => ({ ...usual, path, prompt, ...more }));
}
