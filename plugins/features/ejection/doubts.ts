import type { Row } from "./ejector-row.ts";
import type { EndpointRecords } from "./endpoint-records.ts";

/** Looks again whether its last answers give reason to doubt the endpoint. Proof takes longer, and meanwhile it draws the traffic. */
export function reconsider(row: Row, records: EndpointRecords, changed: (name: string) => void): void {
  const isDoubted = records.emptyAnswers.isDoubtful(row.endpoint);
  if (isDoubted === row.isDoubted) return;
  row.isDoubted = isDoubted;
  changed(row.endpoint.name);
}
