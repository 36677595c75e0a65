import assert from "node:assert/strict";
import { readSamples } from "../../../plugins/sources/prometheus-text.ts";
import type { Target } from "../fuzz.ts";
import { inTime } from "../in-time.ts";

/** Pages in the Prometheus text format: read line by line as in one, with no other error than its own, in a time that grows with the page. */
export const metrics: Target = {
  name: "metrics",
  seeds: [
    '# HELP vllm:num_requests_running Running.\n# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0",model_name="m"} 3.0\n',
    'vllm:lora_requests_info{max_lora="4",running_lora_adapters="a,b",waiting_lora_adapters=""} 1.7e+09\nx 1 1700000000000\r\n',
    'a{b="c\\"d\\\\e\\nf" , g="h",} +Inf\na{} NaN\n\ta -inf\nz\n',
  ].map((text) => Buffer.from(text)),
  words: '\n|\r|\r\n| |\t|#|{|}|=|"|\\|\\"|\\n|,|a|a{b="c"} 1\n|NaN|+Inf|-inf|0x1|1e999|1 2|_|:|\0|é|\xff'.split("|"),
  async check(input) {
    const page = input.toString("utf8");
    const whole = await inTime(() => samplesOf(page));
    const lines = page.split("\n").map(samplesOf);
    const broken = lines.find((line) => typeof line === "string");
    assert.deepEqual(whole, broken ?? lines.flat(), "line by line");
    return typeof whole === "string"
      ? "broken"
      : `${Math.min(whole.length, 5)} ${whole.map(({ labels }) => Math.min(labels.length, 3)).slice(0, 5)}`;
  },
};

interface Sample {
  readonly name: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

/** The samples of a page, or what its error says. */
function samplesOf(page: string): Sample[] | string {
  const samples: Sample[] = [];
  try {
    readSamples(
      page,
      () => true,
      (name, labels, value) => samples.push({ name, labels: [...labels], value }),
    );
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.startsWith("The metrics have a broken line")) return thrown.message;
    throw thrown;
  }
  for (const { name } of samples) assert.ok(name !== "" && !/[ \t\r{#]/.test(name.charAt(0)), "a name");
  return samples;
}
