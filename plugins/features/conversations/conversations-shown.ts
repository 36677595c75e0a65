import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { counted, whole } from "../../../core/report/number-text.ts";
import type { Conversations } from "./conversations.ts";

/** What is held, as JSON; null where nothing is. It says nothing of what is in the conversations. */
export function conversationsStatus({ settings, store, continued }: Conversations) {
  if (settings === undefined) return null;
  const { turns, bytes, tenants } = store;
  return { turns, bytes, tenants, maxBytes: settings.maxBytes, ...continued };
}

type ConversationsStatus = ReturnType<typeof conversationsStatus>;

export function conversationLines({ conversations = null }: { readonly conversations?: ConversationsStatus }): readonly string[] {
  if (conversations === null) return [];
  const { turns, bytes, maxBytes, replayed, unknown } = conversations;
  return [
    `conversations: ${counted(turns, "turn")} held in ${whole(bytes)} of ${whole(maxBytes)} bytes; ${counted(replayed, "request")} continued one, ${unknown} named one that is not held`,
  ];
}

export function conversationMetrics({ settings, store, continued, dropped }: Conversations): readonly MetricFamily[] {
  if (settings === undefined) return [];
  const one = (value: number) => [{ values: [], value }];
  const each = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, value]) => ({ values: [name], value }));
  return [
    {
      name: "conversation_turns",
      type: "gauge",
      help: "Turns of conversations that are held.",
      labels: [],
      samples: one(store.turns),
    },
    {
      name: "conversation_bytes",
      type: "gauge",
      help: "Bytes of memory for conversations, those of requests under way included.",
      labels: [],
      samples: one(store.bytes),
    },
    {
      name: "conversation_requests_total",
      type: "counter",
      help: "Requests with a previous_response_id: replayed with their history, refused because it is unknown, or forwarded as they came.",
      labels: ["result"],
      samples: each(continued),
    },
    {
      name: "conversation_turns_dropped_total",
      type: "counter",
      help: "Turns that were not kept, by the reason; those of failed requests and of store: false are not among them.",
      labels: ["reason"],
      samples: each(dropped),
    },
    {
      name: "conversation_turns_forgotten_total",
      type: "counter",
      help: "Turns that were forgotten: unused for too long, or pushed out by newer ones.",
      labels: ["reason"],
      samples: each({ expired: store.forgotten.expired, pushed_out: store.forgotten.pushedOut }),
    },
  ];
}
