/** An invalid command line; the message says what to write instead. Exit code 2. */
export class UsageError extends Error {}

export const USAGE = `signalbox: puts each LLM inference request on the right replica, under the right model name

  signalbox start [URL...] [-f FILE|DIR]... [--host 127.0.0.1] [--port 8080] [--admin-port 9090]
      Starts the router for the replicas at the URLs, or with the config files. Without either it reads
      signalbox.yaml in this folder; without that it starts a demo pool of three mock replicas.
  signalbox check -f FILE|DIR... [URL...] [--strict] [--json]
      Reads config files and lists every problem in them. Exit code 0: no problem, 1: some. --strict: a warning is one too.
  signalbox status [--admin http://127.0.0.1:9090] [--json]
      Shows the replicas, models and rewrites of a running router. Exit code 1: no replica is ready.
  signalbox explain REQUEST_ID [--admin http://127.0.0.1:9090] [--json]
      Shows why a request went to its replica. The id is in the x-request-id header of its response.
  signalbox mock [--port N] [--model NAME] [--adapters a,b] ...
      Starts one mock replica; "signalbox mock --help" lists its switches.
  signalbox simulate TRACE... [-f CONFIG]... [--replicas 8] [--kv-tokens 524288] [--time-scale 1] [--json] [--svg FILE] ...
      Replays recorded traffic against modelled replicas, to compare configs; "signalbox simulate --help" lists its switches.

Exit codes: 0 ok; 1 invalid config, unavailable port or unreachable router; 2 wrong usage.
`;
