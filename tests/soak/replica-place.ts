import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";

/** Below the ports that systems give to outgoing connections, which could take a port while its replica is down. */
const FIRST_PORT = 12_000;
const PORTS = 18_000;
const TRIES = 50;

/** A port at which a replica runs, with interruptions. */
export class ReplicaPlace {
  readonly port: number;
  replica: MockReplica;

  private constructor(replica: MockReplica) {
    this.replica = replica;
    this.port = replica.port;
  }

  /** Starts a replica at a free port. */
  static async open(model: string): Promise<ReplicaPlace> {
    for (let tries = 1; ; tries++) {
      try {
        return new ReplicaPlace(await start(model, FIRST_PORT + Math.floor(Math.random() * PORTS)));
      } catch (error) {
        if (tries === TRIES) throw error;
      }
    }
  }

  /** Breaks off all that is under way, as a killed process does. */
  async kill(): Promise<void> {
    await this.replica.close();
  }

  async restart(model: string): Promise<void> {
    await this.replica.close();
    this.replica = await start(model, this.port);
  }
}

function start(model: string, port: number): Promise<MockReplica> {
  return startMockReplica({
    model,
    port,
    isEcho: true,
    timeScale: 0.2,
    seenLimit: 1,
    // Small caches: the router's prefix index is full before the half of the time in which memory must not grow.
    kvTokens: 16_384,
  });
}
