/** A command line that can't be understood; the message says what to write instead. Exit code 2. */
export class UsageError extends Error {}

export const USAGE = `signalbox: puts each LLM inference request on the right replica, under the right model name

  signalbox start [URL...] [-f FILE|DIR]... [--host 127.0.0.1] [--port 8080] [--admin-port 9090]
      Starts the router: over the replicas at the URLs, or as the config files say. Without either it reads
      signalbox.yaml in this folder; without that one it starts a demo pool of three mock replicas.
  signalbox check -f FILE|DIR...
      Reads config files and lists every problem in them. Exit code 0: none, 1: some.
  signalbox status [--admin http://127.0.0.1:9090] [--json]
      Shows what a running router's replicas, models and rewrites are up to. Exit code 1 when no replica is ready.
  signalbox explain REQUEST_ID [--admin http://127.0.0.1:9090] [--json]
      Tells why a request went where it went. The id is in the x-request-id header of its answer.
  signalbox mock [--port N] [--model NAME] [--adapters a,b] ...
      Starts one mock replica; "signalbox mock --help" lists its switches.
  signalbox simulate TRACE... [-f CONFIG]... [--replicas 8] [--kv-tokens 524288] [--time-scale 1] [--json] [--svg FILE] ...
      Replays recorded traffic against modelled replicas, to weigh configs; "signalbox simulate --help" lists its switches.

Exit codes: 0 ok, 1 invalid config, a port that can't be had or a router that can't be asked, 2 wrong usage.
`;
