import type { Replica } from "../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../core/contract/endpoint-url.ts";
import { z } from "../../core/contract/options.ts";
import { defineSource } from "../../core/contract/plugin.ts";
import { tlsOptions } from "../../core/contract/tls-options.ts";
import { readSamples, type SampleLabels } from "./prometheus-text.ts";
import { urlAt } from "./url-at.ts";

/** The attribute's name, which is the reference router's. */
const GPU_UTILIZATION = "GPUUtilization";
const SERIES = "DCGM_FI_DEV_GPU_UTIL";

const base = z.strictObject({
  scheme: z.enum(["http", "https"]).default("http"),
  /** The exporter's port on the replica's host, and at an address without a port. */
  port: z.int().min(1).max(65_535).default(9_400),
  path: z.string().startsWith("/").default("/metrics"),
  /** A label of the endpoints with the exporter's address (host, host:port or URL), where it is not the replica's host. */
  addressLabel: z.string().min(1).exactOptional(),
  /** Period while the replica has requests in flight. */
  periodMs: z.int().min(50).max(3_600_000).default(1_000),
  /** Period while it has none. */
  idlePeriodMs: z.int().min(50).max(3_600_000).default(5_000),
  /** TLS to exporters at https. Default: the system's authorities decide, and no certificate is shown. */
  tls: tlsOptions.exactOptional(),
});

const options = base.refine(
  ({ scheme, addressLabel, tls }) => scheme === "https" || addressLabel !== undefined || tls === undefined,
  {
    message: "scheme: https beside it",
    path: ["tls"],
  },
);

type Options = z.output<typeof options>;

/**
 * GPUUtilization = the highest DCGM_FI_DEV_GPU_UTIL / 100 of the replica's GPUs. An exporter that serves a whole node names a pod on
 * each sample: those that name the replica count, else those that name no pod. Values that are no percentage are skipped, because
 * DCGM writes numbers far above 100 for "not available".
 */
export default defineSource({
  type: "dcgm",
  summary: "Reads GPU utilization from an NVIDIA DCGM exporter beside each replica.",
  gives: [GPU_UTILIZATION],
  reports: [],
  options,
  tls: ({ tls }) => tls,
  create: (settings, { name }) => ({
    path: settings.path,
    periodMs: settings.periodMs,
    idlePeriodMs: Math.max(settings.periodMs, settings.idlePeriodMs),
    origin: {
      name: `${settings.scheme}://${settings.addressLabel === undefined ? "*" : `<${settings.addressLabel}>`}:${settings.port}${settings.tls ? ` (${name})` : ""}`,
      ...(settings.tls && { tlsOfPlugin: name }),
      urlFor: (replica) => exporterUrl(replica, settings),
    },
    read: (body, replica) => ({ attributes: { [GPU_UTILIZATION]: utilization(body, replica.name) } }),
  }),
});

function exporterUrl({ url, labels }: Replica, { scheme, port, addressLabel }: Options) {
  if (addressLabel === undefined) return urlAt(url.hostname, port, scheme);
  if (!Object.hasOwn(labels, addressLabel))
    throw new Error(`It has no label "${addressLabel}" with the address of its exporter: add one, or leave out addressLabel`);
  const written = labels[addressLabel]!;
  const address = written.includes("://") ? written : `${scheme}://${withPort(written, port)}`;
  try {
    return parseEndpointUrl(address);
  } catch {
    throw new Error(`Its label "${addressLabel}" is no address: write a host, host:port, or a URL such as http://10.0.0.7:9400`);
  }
}

/** An IPv6 address may stand without brackets, since a port then can't. */
function withPort(address: string, port: number): string {
  const isBareIpv6 = address.split(":").length > 2 && !address.startsWith("[");
  if (isBareIpv6) return `[${address}]:${port}`;
  return /:\d+$/.test(address) ? address : `${address}:${port}`;
}

function utilization(text: string, replica: string): number {
  const highest = { own: Number.NaN, unnamed: Number.NaN };
  readSamples(
    text,
    (name) => name === SERIES,
    (_name, labels, value) => {
      if (!(value >= 0 && value <= 100)) return;
      const of = (labels.get("pod") ?? "") === "" ? "unnamed" : isOf(replica, labels) ? "own" : undefined;
      if (of !== undefined && !(highest[of] >= value)) highest[of] = value;
    },
  );
  const percent = Number.isNaN(highest.own) ? highest.unnamed : highest.own;
  if (Number.isNaN(percent)) throw new Error(NOTHING_KNOWN);
  return percent / 100;
}

/** Whether the labels name the replica's pod: the endpoint is the pod, with or without its namespace, or one of its ranks. */
function isOf(replica: string, labels: SampleLabels): boolean {
  const pod = labels.get("pod")!;
  const endpoint = replica.replace(/-rank-\d+$/, "");
  return [replica, endpoint].some((name) => name === pod || name === `${labels.get("namespace") ?? ""}.${pod}`);
}

const NOTHING_KNOWN =
  `The exporter's text has no ${SERIES} of this replica: have the exporter collect that field, and ` +
  "name the endpoint like its pod where the exporter serves a whole node";
