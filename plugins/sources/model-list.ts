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

type ListedCard = Readonly<Record<string, unknown>>;

export default defineSource({
  type: "model-list",
  summary: "Reads which models and adapters a replica serves (/v1/models).",
  options,
  create: ({ periodMs }) => ({
    path: "/v1/models",
    periodMs,
    read(body) {
      const cards = modelCards(parseList(body));
      const models = { models: [...new Set(cards.map(modelName))], ...shownCards(cards.filter(isRecord)) };
      // Only a list with parents distinguishes adapters from base models.
      if (!cards.some((card) => isRecord(card) && "parent" in card)) return models;
      return { ...models, adapters: [...new Set(cards.filter(hasParent).map(modelName))] };
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

function modelCards(list: unknown): readonly unknown[] {
  const data = isRecord(list) ? list["data"] : undefined;
  if (!Array.isArray(data)) throw new Error(`The model list has no "data" array; ${WANTED}`);
  if (data.length > MAX_MODELS) throw new Error(`The model list has ${data.length} entries; at most ${MAX_MODELS} are read`);
  return data;
}

/** What else the list says; of a name that is in it twice, the first card counts. */
function shownCards(cards: readonly ListedCard[]): Pick<EndpointFacts, "modelCards"> {
  const shown = Object.create(null) as Record<string, ModelCard>;
  for (const card of cards) shown[modelName(card)] ??= Object.freeze(shownCard(card, cards));
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

function hasParent(card: unknown): boolean {
  return isRecord(card) && typeof card["parent"] === "string" && card["parent"] !== "";
}

function modelName(entry: unknown): string {
  const id = isRecord(entry) ? entry["id"] : undefined;
  if (typeof id !== "string" || id === "") throw new Error(`The model list has an entry without an "id"; ${WANTED}`);
  if (id.length > MAX_NAME_LENGTH) throw new Error(`The model list has a name longer than ${MAX_NAME_LENGTH} characters`);
  return id;
}

function isRecord(value: unknown): value is ListedCard {
  return typeof value === "object" && value !== null;
}
