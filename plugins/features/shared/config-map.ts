import type { KubernetesObject } from "../../../apps/kubernetes/objects.ts";
import { isMapping } from "../../../config/read/problems.ts";
import { hmac } from "../../../core/runtime/hmac.ts";
import { MOST_UNANSWERED } from "./link.ts";

// What a router's ConfigMap looks like. Messages have no line feeds, so each is a line.

const PREFIX = "signalbox-shared-";
const NAME = /^signalbox-shared-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LABEL = "signalbox.dev/shared";
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

export interface ConfigMapMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
}

/** What of it is read. */
export interface Written {
  /** Another one with each write. */
  readonly sequence: string;
  readonly messages: readonly string[];
}

/** For one link to others of its channel. */
export function metadataOf(
  channel: string,
  namespace: string,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigMapMetadata {
  const labels = { [LABEL]: labelValueOf(channel), "app.kubernetes.io/managed-by": "signalbox" };
  const owner = podOf(namespace, environment);
  return { name: `${PREFIX}${crypto.randomUUID()}`, labels, ...(owner && { ownerReferences: [owner] }) };
}

/** That finds all of a channel. */
export function selectorOf(channel: string): string {
  return `${LABEL}=${labelValueOf(channel)}`;
}

export function dataOf(sequence: number, messages: readonly string[]): Readonly<Record<string, string>> {
  return { sequence: String(sequence), messages: messages.join("\n") };
}

/** Undefined for a ConfigMap that no router has written. */
export function readConfigMap({ metadata: { name }, data }: KubernetesObject): Written | undefined {
  if (!NAME.test(name) || !isMapping(data)) return undefined;
  const { sequence, messages } = data;
  if (typeof sequence !== "string" || !/^\d{1,15}$/.test(sequence) || typeof messages !== "string") return undefined;
  // No router writes more at once.
  return { sequence, messages: messages === "" ? [] : messages.split("\n", MOST_UNANSWERED) };
}

/** Pools may have names that are no value of a label, or too long for one. */
function labelValueOf(channel: string): string {
  const plain = channel.replace(/^signalbox:/, "").replaceAll(":", ".");
  return LABEL_VALUE.test(plain) ? plain : `hash.${hmac("channel", channel)}.0`;
}

/** The pod that this runs in, where it is told: the cluster deletes the ConfigMap with it. An owner in another namespace counts as gone. */
function podOf(namespace: string, environment: Readonly<Record<string, string | undefined>>): object | undefined {
  const { POD_NAME: name, POD_UID: uid, POD_NAMESPACE: own } = environment;
  return name && uid && own === namespace ? { apiVersion: "v1", kind: "Pod", name, uid } : undefined;
}
