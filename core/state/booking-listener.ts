import type { Endpoint } from "../contract/endpoint.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { PrefillWork } from "./prefill-queue.ts";

/** What one try takes at one endpoint, as a listener sees it. */
export interface Booked extends PrefillWork {
  readonly request: InferenceRequest;
  readonly endpoint: Endpoint;
}

/** Is told of each change that a booking has made in the tables of its pool. It must be quick, and must not throw. */
export interface BookingListener {
  began(booked: Booked): void;
  /** `isProcessed`: by the endpoint; false: the try ended before. */
  prefillEnded(booked: Booked, isProcessed: boolean): void;
  ended(booked: Booked): void;
  /** The prompt is believed to be in the endpoint's cache from now on. */
  cached(booked: Booked): void;
  /** It is not, after all. */
  withdrawn(booked: Booked): void;
  /** So many tokens were generated behind the prompt. */
  generated(booked: Booked, tokens: number): void;
}
