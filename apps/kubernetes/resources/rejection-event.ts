/** A resource, as events name it. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Of a note; an API server takes a few more. */
const MOST_BYTES = 1_000;

/** An events.k8s.io/v1 Event: `kubectl describe` shows it under the resource. */
export function rejectionEvent(regarding: Regarding, message: string, identity: string, wallMs: number): object {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: `${regarding.name.slice(0, 230)}.${wallMs.toString(16)}`, namespace: regarding.namespace },
    eventTime: new Date(wallMs).toISOString().replace("Z", "000Z"),
    type: "Warning",
    reason: "Rejected",
    action: "Check",
    note: new TextDecoder().decode(new TextEncoder().encode(message).subarray(0, MOST_BYTES)),
    regarding,
    reportingController: "signalbox.dev/router",
    reportingInstance: identity.slice(0, 128),
  };
}
