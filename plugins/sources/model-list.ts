import type { ModelCard } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineSource } from "../../core/contract/plugin.ts";
import type { EndpointFacts } from "../../core/contract/source.ts";

const options = z.strictObject({
  periodMs: z.int().min(100).max(3_600_000).default(5_000),
});

/** No replica serves more models. The bound keeps the data small that each request reads. */
const MAX_MODELS = 10_000;
const MAX_NAME_LENGTH = 512;
const MAX_ROOT_LENGTH = 4_096;

interface ListedCard extends Readonly<Record<string, unknown>> {
  readonly id: string;
}

export default defineSource({
  type: "model-list",
  summary: "Reads which models and adapters a replica serves (/v1/models).",
  runsByDefault: true,
  reports: [],
  options,
  create: ({ periodMs }) => ({
    path: "/v1/models",
    periodMs,
    read(body) {
      const { cards, leftOut } = modelCards(parseList(body));
      const models = {
        models: [...new Set(cards.map(({ id }) => id))],
        ...shownCards(cards),
        ...(leftOut !== "" && { leftOut }),
      };
      // Only a list with parents distinguishes adapters from base models.
      if (!cards.some((card) => "parent" in card)) return models;
      return { ...models, adapters: [...new Set(cards.filter(hasParent).map(({ id }) => id))] };
    },
  }),
});

function parseList(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new Error(`The model list is not JSON; ${WANTED}`, { cause });
  }
}

const WANTED = 'the replica must respond to GET /v1/models with {"data": [{"id": "NAME"}]}';

/** The entries that name a model. One that does not costs the replica no other model: `leftOut` says what is wrong with it. */
function modelCards(list: unknown): { readonly cards: readonly ListedCard[]; readonly leftOut: string } {
  const data = isRecord(list) ? list["data"] : undefined;
  if (!Array.isArray(data)) throw new Error(`The model list has no "data" array; ${WANTED}`);
  const entries: readonly unknown[] = data.slice(0, MAX_MODELS);
  const cards = entries.filter(isCard);
  const left = data.length - cards.length;
  if (left === 0) return { cards, leftOut: "" };
  const index = entries.findIndex((entry) => !isCard(entry));
  const why = index < 0 ? `at most ${MAX_MODELS} are read` : `entry ${index + 1} ${oddity(entries[index])}`;
  if (cards.length === 0) throw new Error(`No entry of the model list names a model: ${why}; ${WANTED}`);
  return { cards, leftOut: `of ${data.length} models in its list, ${left} can't be used: ${why}` };
}

function isCard(entry: unknown): entry is ListedCard {
  return isRecord(entry) && typeof entry["id"] === "string" && entry["id"] !== "" && entry["id"].length <= MAX_NAME_LENGTH;
}

function oddity(entry: unknown): string {
  const id = isRecord(entry) ? entry["id"] : undefined;
  return typeof id === "string" && id !== ""
    ? `has a name longer than ${MAX_NAME_LENGTH} characters`
    : 'has no "id" that is a text';
}

/** What else the list says; of a name that is in it twice, the first card counts. */
function shownCards(cards: readonly ListedCard[]): EndpointFacts {
  const shown = Object.create(null) as Record<string, ModelCard>;
  for (const card of cards) shown[card.id] ??= Object.freeze(shownCard(card, cards));
  return Object.values(shown).some((card) => Object.keys(card).length > 0) ? { modelCards: Object.freeze(shown) } : {};
}

function shownCard(card: ListedCard, cards: readonly ListedCard[]): ModelCard {
  const { root, parent } = card;
  const base = typeof parent === "string" ? cards.find(({ id }) => id === parent) : undefined;
  const contextTokens = contextOf(card) ?? (base && contextOf(base));
  return {
    ...(contextTokens !== undefined && { contextTokens }),
    ...(typeof root === "string" && root.length <= MAX_ROOT_LENGTH && { root }),
    ...((parent === null || (typeof parent === "string" && parent.length <= MAX_NAME_LENGTH)) && { parent }),
  };
}

/** vLLM and SGLang say it; vLLM's adapters have null. */
function contextOf({ max_model_len: tokens }: ListedCard): number | undefined {
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined;
}

function hasParent({ parent }: ListedCard): boolean {
  return typeof parent === "string" && parent !== "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
