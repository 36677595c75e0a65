import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import type { Replica } from "../../../core/contract/endpoint.ts";
import dcgm from "../../../plugins/sources/dcgm.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

/** Lines as an exporter writes them. */
const sample = (labels: string, value: string | number) => `DCGM_FI_DEV_GPU_UTIL{${labels}} ${value}\n`;
const gpu = (index: number, value: string | number, more = "") =>
  sample(`gpu="${index}",UUID="GPU-${index}",device="nvidia${index}",modelName="NVIDIA H100"${more}`, value);
const HELP = "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n";
const OTHERS =
  'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 45\nDCGM_FI_DEV_GPU_UTIL_OTHER{gpu="0"} 99\nDCGM_FI_DEV_FB_USED{gpu="0"} nonsense\n';
const of = (pod: string, namespace = "default") => `,pod="${pod}",namespace="${namespace}",container="vllm"`;

const replica = (name: string, labels: Readonly<Record<string, string>> = {}, host = "10.0.0.5"): Replica => {
  const { url } = makeEndpoint(0);
  return { name, labels, url: { ...url, hostname: host } };
};

describe("the utilization of a replica", () => {
  const cases: readonly [name: string, text: string, replica: string, value: number][] = [
    ["of one GPU", HELP + OTHERS + gpu(0, 42), "gpu1-8000", 0.42],
    ["of several: the highest", gpu(0, 10) + gpu(1, 85) + gpu(2, 30), "gpu1-8000", 0.85],
    ["idle", gpu(0, 0), "a", 0],
    ["full", gpu(0, 100), "a", 1],
    ["its own pod's, on a shared node", gpu(0, 90, of("vllm-1")) + gpu(1, 20, of("vllm-0")), "vllm-0", 0.2],
    ["with the pod's namespace in its name", gpu(0, 90, of("vllm-0")) + gpu(1, 20, of("vllm-0", "b")), "b.vllm-0", 0.2],
    ["of a rank: the pod's", gpu(0, 90, of("vllm-1")) + gpu(1, 20, of("vllm-0")), "vllm-0-rank-3", 0.2],
    ["of a pod with the name of a rank", gpu(0, 90, of("vllm-0-rank-3")), "vllm-0-rank-3", 0.9],
    ["an unassigned GPU counts where nothing names the pod", gpu(0, 60, of("")) + gpu(1, 20), "vllm-0", 0.6],
    ["and not beside one that does", gpu(0, 60, of("")) + gpu(1, 20, of("vllm-0")), "vllm-0", 0.2],
    [
      "values that are no percentage are skipped",
      gpu(0, "NaN") + gpu(1, -3) + gpu(2, "9223372036854775794") + gpu(3, 7),
      "a",
      0.07,
    ],
    ["infinite ones too", gpu(0, "+Inf") + gpu(1, "-Inf") + gpu(3, 7), "a", 0.07],
    ["labels with quotes, braces and line ends", sample('a="\\"}\\n{",b="x,y=z"', 12), "a", 0.12],
    ["without labels, with a time", "DCGM_FI_DEV_GPU_UTIL 50 1700000000000\n", "a", 0.5],
  ];
  for (const [name, text, named, value] of cases)
    it(name, () => assert.deepEqual(createPlugin(dcgm).read(text, replica(named)), { attributes: { GPUUtilization: value } }));

  const unreadable: readonly [name: string, text: string][] = [
    ["no such series", OTHERS],
    ["no text", ""],
    ["only of other pods", gpu(0, 90, of("vllm-1"))],
    ["nothing but what is no percentage", gpu(0, "NaN") + gpu(1, 101)],
    ["a broken line", "DCGM_FI_DEV_GPU_UTIL{gpu=0} 5\n"],
    ["no value", "DCGM_FI_DEV_GPU_UTIL\n"],
    ["a page of HTML", "<html><body>DCGM</body></html>"],
  ];
  for (const [name, text] of unreadable)
    it(name, () => assert.throws(() => createPlugin(dcgm).read(text, replica("vllm-0")), Error));

  it("a hundred thousand samples", () => {
    const text = Array.from({ length: 100_000 }, (_, index) => gpu(index, index % 97, of(`vllm-${index % 1000}`))).join("");
    const { attributes } = createPlugin(dcgm).read(text, replica("vllm-7"));
    assert.equal(attributes?.["GPUUtilization"], 0.96);
  });
});

test("whatever the text is: a share in [0, 1], or an Error", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "DCGM_FI_DEV_GPU_UTIL",
      "{",
      "}",
      '"',
      "\\",
      "\n",
      ",",
      "=",
      " ",
      "pod",
      "NaN",
      "1e309",
      "-0",
      "0x1f",
      "#",
      "\r",
    ),
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.double().map(String),
    fc.nat(200).map((value) => gpu(0, value, of("vllm-0"))),
  );
  const source = createPlugin(dcgm);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      let value: number | undefined;
      try {
        value = source.read(pieces.join(""), replica("vllm-0")).attributes?.["GPUUtilization"];
      } catch (thrown) {
        return thrown instanceof Error && thrown.message.length < 500;
      }
      return value !== undefined && value >= 0 && value <= 1;
    }),
    { numRuns: 2_000 },
  );
});

describe("where the exporter is", () => {
  const label = { addressLabel: "node" };
  const cases: readonly [name: string, parameters: object, replica: Replica, href: string][] = [
    ["beside the replica", {}, replica("a"), "http://10.0.0.5:9400"],
    ["at another port, with TLS", { scheme: "https", port: 9443 }, replica("a"), "https://10.0.0.5:9443"],
    ["at an IPv6 address", {}, replica("a", {}, "fd00::5"), "http://[fd00::5]:9400"],
    ["where a label says: a host", label, replica("a", { node: "10.9.9.9" }), "http://10.9.9.9:9400"],
    ["a host and a port", label, replica("a", { node: "node7.local:9500" }), "http://node7.local:9500"],
    ["an IPv6 address there", label, replica("a", { node: "fd00::9" }), "http://[fd00::9]:9400"],
    ["one in brackets, with a port", label, replica("a", { node: "[fd00::9]:9500" }), "http://[fd00::9]:9500"],
    ["a URL", label, replica("a", { node: "https://dcgm.example/node7" }), "https://dcgm.example/node7"],
  ];
  for (const [name, parameters, endpoint, href] of cases)
    it(name, () => assert.equal(createPlugin(dcgm, parameters).origin?.urlFor(endpoint).href, href));

  const unknown: readonly [name: string, labels: Readonly<Record<string, string>>, message: RegExp][] = [
    ["without the label", {}, /no label "node".*add one/],
    ["with an empty one", { node: "" }, /is no address: write a host/],
    ["with spaces and line ends", { node: "a b\r\nc" }, /is no address/],
    ["with a user's name", { node: "http://user:secret@host" }, /is no address/],
    ["with another scheme", { node: "file:///etc/passwd" }, /is no address/],
    ["with a property of every object", {}, /no label/],
  ];
  for (const [name, labels, message] of unknown)
    it(name, () => assert.throws(() => createPlugin(dcgm, label).origin?.urlFor(replica("a", labels)), message));

  test("two sources with different addresses are fetched apart", () => {
    const names = [{}, { port: 9500 }, { scheme: "https" }, label].map((each) => createPlugin(dcgm, each).origin?.name);
    assert.equal(new Set(names).size, 4);
  });
});

test("parameters", () => {
  assert.equal(issuesOf(dcgm, { port: 70_000 }).length, 1);
  assert.equal(issuesOf(dcgm, { path: "metrics" }).length, 1);
  assert.equal(issuesOf(dcgm, { adressLabel: "x" }).length, 1);
});
