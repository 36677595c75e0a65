/**
 * Places whose files run on Node 20 alone although they use what runtimes differ in, and why. They run once in the full run, too.
 * `dependence.ts` names a file that does so and is not listed here.
 */
export const RUN_ONCE: readonly { readonly place: string; readonly why: string }[] = [
  { place: "tests/package/", why: "installs the package and starts all three runtimes itself" },
  {
    place: "tests/e2e/page",
    why: "runs the page in a browser; its files are asked for on each runtime in tests/apps/admin",
  },
  { place: "tests/bench/count/", why: "counts what the V8 of Node 20 does; other engines have other counts" },
  { place: "tests/kubernetes/", why: "starts a real API server; client.runtimes.test.ts asks it on each runtime" },
  { place: "tests/epp/envoy", why: "starts a real Envoy; what it sends is replayed on each runtime in tests/epp/conformance" },
  { place: "tests/apps/epp/grpc/h2spec.test.ts", why: "runs h2spec; hostile frames run on each runtime in tests/epp/hostile" },
  { place: "tests/examples/observability.test.ts", why: "runs a real Prometheus" },
  { place: "tests/examples/deploy.test.ts", why: "reads manifests, and runs Helm and systemd's tools" },
  {
    place: "tests/examples/document-commands.test.ts",
    why: "runs the documents' commands, which tests of their own run elsewhere",
  },
  {
    place: "tests/examples/documents.test.ts",
    why: "loads the documents' blocks, whose plugins tests of their own run elsewhere",
  },
  { place: "tests/plugins/features/deleted.test.ts", why: "compiles copies of the source" },
  { place: "tests/run.test.ts", why: "tests the runner of the tests" },
  { place: "tests/ci.test.ts", why: "tests a shell script" },
  { place: "tests/support/suite/", why: "tests the runner of the tests" },
  { place: "tests/layout.test.ts", why: "reads the source" },
  { place: "tests/clients/", why: "compares a document with the tests of clients" },
  { place: "tests/support/documents/", why: "compares documents with what makes them" },
  { place: "tests/wasm.test.ts", why: "compiles the module anew; tests/core/state/prefix-hash runs it on each runtime" },
];
