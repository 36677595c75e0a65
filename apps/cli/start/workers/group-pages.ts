import type { DecisionReport } from "../../../../core/report/report-schema.ts";
import type { Status } from "../../../admin/status.ts";
import { ofGauges } from "./gauges.ts";
import { groupStatus, historyOf, type ShownWorker } from "./group-status.ts";
import { joined } from "./join-figures.ts";
import { countersOf, type MetricPage, mergedPages, pageText, readPage } from "./metric-page.ts";

interface Decisions {
  readonly size: number;
  readonly decisions: readonly DecisionReport[];
}

/** What the feature `scale` shows. */
interface ScalePage {
  readonly ready?: number;
  readonly room?: number | null;
  readonly models?: readonly { readonly model: string }[];
}

/** The pages of all workers as one; each function gets the texts of those that answered. */
export class GroupPages {
  /** What each worker's page had last. */
  readonly #last = new Map<object, MetricPage>();
  /** What workers that have ended had counted, as far as it was shown. */
  #ended: MetricPage = new Map();

  metrics(texts: ReadonlyMap<object, string>): string {
    for (const [worker, text] of texts) this.#last.set(worker, readPage(text));
    // Of one that does not answer, what it had counted.
    const pages = [...this.#last].map(([worker, page]) => (texts.has(worker) ? page : countersOf(page)));
    return pageText(mergedPages([...pages, this.#ended], ofGauges));
  }

  /** Its counts stay in the sums, which must never fall. */
  workerEnded(worker: object): void {
    const page = this.#last.get(worker);
    if (page === undefined) return;
    this.#last.delete(worker);
    this.#ended = mergedPages([this.#ended, countersOf(page)], ofGauges);
  }

  status(texts: readonly string[], workers: readonly ShownWorker[]): string {
    return JSON.stringify(
      groupStatus(
        texts.map((text) => JSON.parse(text) as Status),
        workers,
      ),
    );
  }

  traffic(texts: readonly string[]): string {
    return JSON.stringify(historyOf(texts.map((text) => JSON.parse(text))));
  }

  /** The newest first, as many as one worker shows. */
  decisions(texts: readonly string[], limit: number): string {
    const all = texts.map((text) => JSON.parse(text) as Decisions);
    const size = Math.max(...all.map((each) => each.size));
    const newest = all.flatMap(({ decisions }) => decisions).sort((one, other) => (one.time < other.time ? 1 : -1));
    return JSON.stringify({ size, decisions: newest.slice(0, Number.isInteger(limit) && limit >= 0 ? limit : size) });
  }

  /** Sums, of models too. What each worker rounds up by itself, the sum is up to a replica for each worker too large. */
  scale(texts: readonly string[]): string {
    const sum = (one: number, other: number) => one + other;
    const all = texts.map((text) => JSON.parse(text) as ScalePage);
    const models = new Map<string, { readonly model: string }>();
    for (const each of all.flatMap((page) => page.models ?? [])) {
      const known = models.get(each.model);
      models.set(each.model, known === undefined ? each : joined([known, each], sum));
    }
    const [first] = all;
    const same = { ready: first?.ready, room: first?.room };
    return JSON.stringify({ ...joined(all, sum), ...same, ...(first?.models && { models: [...models.values()] }) });
  }

  /** The same, as autoscalers ask an API server for it. */
  externalMetric(texts: readonly string[]): string {
    const all = texts.map((text) => JSON.parse(text) as { readonly items: readonly { readonly value: string }[] });
    const [first] = all;
    const items = (first?.items ?? []).map((item, at) => {
      const value = all.reduce((sum, each) => sum + Number(each.items[at]?.value ?? 0), 0);
      return { ...item, value: String(value) };
    });
    return JSON.stringify({ ...first, items });
  }
}
