import type { z } from "../../../core/contract/options.ts";

interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below /api/v1, with parameters as ":name". */
  readonly path: string;
  /** For the OpenAPI document: unique, and in one sentence. */
  readonly id: string;
  readonly summary: string;
  /** It changes nothing, though its method is not GET: allowed where GET is. */
  readonly isRead?: boolean;
  /** It shows nothing of the router, so nobody needs a token for it. */
  readonly isOpen?: boolean;
  readonly response: z.ZodType;
}

/** One operation of the admin API. Its schemas are also what the OpenAPI document is made of. */
export interface ApiRoute extends Operation {
  /** The body; undefined for an operation without one. */
  readonly body: z.ZodType | undefined;
  /** Parameters of the query. */
  readonly query: readonly QueryParameter[];
  /** The version of what it shows or changes: the ETag, compared with If-Match. Default: the config's generation. */
  readonly version: (() => string) | undefined;
  /** Throws Problem to refuse. */
  run(call: ApiCall): ApiResult | Promise<ApiResult>;
}

/** Whether it may change something, and so needs the right to do so. */
export function changes({ method, isRead = false }: ApiRoute): boolean {
  return method !== "GET" && !isRead;
}

interface QueryParameter {
  readonly name: string;
  readonly meaning: string;
}

export interface ApiCall<Body = unknown> {
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** As the route's body schema returned it. */
  readonly body: Body;
  /** The header If-Match. */
  readonly ifMatch: string | null;
  /** Who asks, for the log and for the status: the name of the token, and the peer's address. */
  readonly caller: string;
}

export interface ApiResult {
  readonly document: unknown;
  /** What a change changed, for the log. */
  readonly change?: Change;
}

interface Change {
  /** Such as "rewrite food". */
  readonly what: string;
  readonly before: unknown;
  readonly after: unknown;
}

interface Definition<Body> extends Operation {
  readonly body?: z.ZodType<Body>;
  readonly version?: () => string;
  readonly query?: readonly QueryParameter[];
  run(call: ApiCall<Body>): ApiResult | Promise<ApiResult>;
}

/** A route whose `run` gets the body in its schema's type. */
export function route<Body = undefined>(definition: Definition<Body>): ApiRoute {
  return {
    ...definition,
    body: definition.body,
    query: definition.query ?? [],
    version: definition.version,
    // The body comes from this route's own schema.
    run: (call) => definition.run({ ...call, body: call.body as Body }),
  };
}
