/** A refused request, with vLLM's wording and shape. */
export class Problem extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  /** Schema errors are found before the API's handler runs, so even /v1/messages reports them in OpenAI's shape. */
  readonly isSchema: boolean;

  constructor(status: number, type: string, message: string, extra: { param?: string; isSchema?: boolean } = {}) {
    super(message);
    this.name = "Problem";
    this.status = status;
    this.type = type;
    this.param = extra.param ?? null;
    this.isSchema = extra.isSchema ?? false;
  }
}

/** The body of the error response; on /v1/messages in Anthropic's shape. */
export function problemBody(problem: Problem, isAnthropic: boolean): unknown {
  if (isAnthropic && !problem.isSchema) return { type: "error", error: { type: problem.type, message: problem.message } };
  return { error: { message: problem.message, type: problem.type, param: problem.param, code: problem.status } };
}

/** A field that the API's schema rejects. */
export function invalidField(type: string, place: string, message: string, input: unknown): Problem {
  const text = `1 validation error:\n  {'type': '${type}', 'loc': '${place}', 'msg': '${message}', 'input': '${summary(input)}'}`;
  return new Problem(400, "Bad Request", text, { param: place, isSchema: true });
}

/** A value that the handler rejects. */
export function badRequest(message: string, param?: string): Problem {
  return new Problem(400, "BadRequestError", param ? `${message} (parameter=${param})` : message, param ? { param } : {});
}

/** A body with a content type other than JSON. */
export function wrongContentType(): Problem {
  const message = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed";
  return new Problem(400, "Bad Request", message, { isSchema: true });
}

/** A name that is neither the base model nor a loaded adapter. */
export function unknownModel(name: string, base: string, isEmbedding: boolean): Problem {
  if (isEmbedding) return new Problem(404, "NotFoundError", `The model \`${name}\` does not exist.`);
  return new Problem(404, "NotFoundError", `The model \`${name}\` does not exist. Valid aliases: ${base}.`, { param: "model" });
}

/** The input as vLLM's message shows it: of lists and objects only the size. */
function summary(input: unknown): string {
  if (Array.isArray(input)) return `<list of ${input.length} items>`;
  if (typeof input === "object" && input !== null) return `<dict of ${Object.keys(input).length} items>`;
  return input === undefined ? "None" : String(input);
}
