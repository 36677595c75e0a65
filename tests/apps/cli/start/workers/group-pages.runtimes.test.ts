import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { ofGauges } from "../../../../../apps/cli/start/workers/gauges.ts";
import { GroupPages } from "../../../../../apps/cli/start/workers/group-pages.ts";

const page = (requests: number, inFlight: number, connections: number, well: number) => `# HELP a_total Requests.
# TYPE a_total counter
a_total{status="2xx"} ${requests}
# HELP signalbox_endpoint_in_flight In flight.
# TYPE signalbox_endpoint_in_flight gauge
signalbox_endpoint_in_flight{endpoint="a b"} ${inFlight}
# HELP signalbox_endpoint_connections Connections.
# TYPE signalbox_endpoint_connections gauge
signalbox_endpoint_connections ${connections}
# HELP signalbox_well Well.
# TYPE signalbox_well gauge
signalbox_well ${well}
# HELP t Times.
# TYPE t histogram
t_bucket{le="+Inf"} ${requests}
t_sum ${requests / 2}
`;

describe("the pages of workers", () => {
  it("are one page: counts are summed, of gauges what their meaning demands", () => {
    const text = new GroupPages().metrics(
      new Map([
        [{}, page(3, 5, 1, 1)],
        [{}, page(4, 6, 2, 0)],
      ]),
    );
    assert.equal(text, page(7, 6, 3, 0));
  });

  it("keep what a worker had counted that has ended", () => {
    const pages = new GroupPages();
    const [one, other, next] = [{}, {}, {}];
    pages.metrics(new Map([[one, page(3, 1, 1, 1)]]));
    pages.metrics(new Map([[other, page(4, 1, 1, 1)]]));
    pages.workerEnded(one);
    assert.match(pages.metrics(new Map([[next, page(0, 0, 0, 1)]])), /^a_total\{status="2xx"\} 7$/m);
    pages.workerEnded(next);
    assert.match(
      pages.metrics(new Map([[other, page(5, 2, 1, 1)]])),
      /a_total\{status="2xx"\} 8\n(?:.|\n)*in_flight\{endpoint="a b"\} 2\n/,
    );
  });

  it("name only gauges that there are", () => {
    const metrics = readFileSync("plugins/observers/METRICS.md", "utf8");
    const rules = readFileSync("apps/cli/start/workers/gauges.ts", "utf8");
    const named = [...rules.matchAll(/"((?:signalbox|process)_\w+)"/g)].map(([, name]) => name!);
    for (const name of named) assert.match(metrics, new RegExp(`\`${name}\` +\\| gauge`), name);
    assert.equal(ofGauges("signalbox_of_a_plugin")(1, 2), 2);
  });
});
