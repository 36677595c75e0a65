import { Problem, problemResponse } from "../../../admin/problem.ts";
import type { WorkerGroup } from "./group.ts";
import { GroupPages } from "./group-pages.ts";
import { mergedStream } from "./merged-stream.ts";
import type { Question } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

const API = "/api/v1";
/** How long all workers have to answer what they are asked together. */
const PAGE_MS = 2_000;
const EXTERNAL_METRIC = /^\/apis\/external\.metrics\.k8s\.io\/v1beta1\/namespaces\//;

/**
 * What the admin port of all workers answers. What each of them counts or remembers for itself is asked of all; the rest of the first one:
 * what an operator changes there, it tells the others.
 */
export class GroupApi {
  readonly #group: WorkerGroup;
  readonly #pages = new GroupPages();
  /** Ends the streams whenever other workers serve: their readers connect again, to those that serve then. */
  #streams = new AbortController();

  constructor(group: WorkerGroup) {
    this.#group = group;
  }

  /** Never rejects. */
  readonly answer = async (request: Request, caller: string): Promise<Response> => {
    try {
      return await this.#answer(request, caller);
    } catch (thrown) {
      if (thrown instanceof Problem) return problemResponse(thrown);
      return problemResponse(new Problem(500, "internal_error", `The workers' answers could not be joined: ${String(thrown)}`));
    }
  };

  /** Another worker serves, or one has ended. */
  workersChanged(ended?: WorkerProcess): void {
    if (ended !== undefined) this.#pages.workerEnded(ended);
    this.#streams.abort();
    this.#streams = new AbortController();
  }

  close(): void {
    this.#streams.abort();
  }

  async #answer(request: Request, caller: string): Promise<Response> {
    const { pathname, search, searchParams } = new URL(request.url);
    const question = await questionOf(request, `${pathname}${search}`, caller);
    const alone = this.#alone(searchParams, pathname);
    if (alone !== undefined) return alone.ask(question, request.signal, PAGE_MS);
    const { answering } = this.#group;
    const [first] = answering;
    if (first === undefined) return problemResponse(new Problem(503, "no_worker", this.#whyNone()));
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead) return first.ask(question, request.signal);
    if (pathname.startsWith(`${API}/explain/`)) return this.#whoKnows(question, answering);
    const join = this.#joinOf(pathname, searchParams);
    if (join !== undefined) return this.#joined(question, answering, join);
    const response = await first.ask(question, request.signal);
    if (response.headers.get("content-type") !== "text/event-stream" || response.body === null) return response;
    const others = await Promise.all(answering.slice(1).map((worker) => worker.ask(question, request.signal, PAGE_MS)));
    const streams = [response, ...others].flatMap(({ body }) => body ?? []);
    return new Response(mergedStream(streams, this.#streams.signal), { status: response.status, headers: response.headers });
  }

  /** The one that `?worker=N` asks for, of what is shown. Throws Problem. */
  #alone(query: URLSearchParams, path: string): WorkerProcess | undefined {
    const wanted = query.get("worker");
    if (wanted === null || (path !== "/status" && path !== "/metrics")) return undefined;
    const { serving } = this.#group;
    const found = serving.find(({ worker }) => String(worker) === wanted);
    if (found !== undefined) return found;
    const names = serving.map(({ worker }) => worker).join(", ");
    throw new Problem(404, "unknown_worker", `No worker of this number serves; those that do are ${names || "none"}.`);
  }

  #whyNone(): string {
    if (this.#group.serving.length > 0) return "No worker answers: they are frozen, or busy with one thing for long.";
    return "No worker serves now; they are started again, so ask again in a second.";
  }

  /** What makes one page of the workers' pages; undefined where one worker's is enough. */
  #joinOf(path: string, query: URLSearchParams): ((texts: ReadonlyMap<WorkerProcess, string>) => string) | undefined {
    const pages = this.#pages;
    const limit = Number(query.get("limit") ?? Number.NaN);
    switch (path) {
      case "/metrics":
        return (texts) => pages.metrics(texts);
      case "/status":
        return (texts) => pages.status([...texts.values()], this.#group.shown);
      case "/decisions":
        return (texts) => pages.decisions([...texts.values()], limit);
      case `${API}/traffic`:
        return (texts) => pages.traffic([...texts.values()]);
      case "/scale":
        return (texts) => pages.scale([...texts.values()]);
      default:
        return EXTERNAL_METRIC.test(path) ? (texts) => pages.externalMetric([...texts.values()]) : undefined;
    }
  }

  async #joined(
    question: Question,
    workers: readonly WorkerProcess[],
    join: (texts: ReadonlyMap<WorkerProcess, string>) => string,
  ): Promise<Response> {
    const responses = await Promise.all(workers.map((worker) => worker.ask({ ...question, method: "GET" }, undefined, PAGE_MS)));
    const good = responses.flatMap((response, at) => (response.status === 200 ? [{ response, worker: workers[at]! }] : []));
    const [first] = good;
    if (first === undefined) return responses[0]!;
    const texts = new Map<WorkerProcess, string>();
    for (const { response, worker } of good) texts.set(worker, await response.text());
    const body = question.method === "HEAD" ? null : join(texts);
    return new Response(body, { status: 200, headers: first.response.headers });
  }

  /** A request that has ended is known by the worker that served it. */
  async #whoKnows(question: Question, workers: readonly WorkerProcess[]): Promise<Response> {
    const responses = await Promise.all(workers.map((worker) => worker.ask(question, undefined, PAGE_MS)));
    return responses.find(({ status }) => status === 200) ?? responses[0]!;
  }
}

async function questionOf(request: Request, target: string, caller: string): Promise<Question> {
  const body = request.body === null ? "" : await request.text();
  return { method: request.method, target, headers: [...request.headers], body, caller };
}
