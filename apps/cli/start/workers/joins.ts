import type { Facts, WorkerProcess } from "./worker-process.ts";

/**
 * Tells a worker that comes when all that the others know has reached it. Each of the others answers a mark, behind what it had to say to
 * the greeting of the one that comes: messages between two processes keep their order.
 */
export class Joins {
  /** Those that come, and who has not answered yet. */
  readonly #comers = new Map<WorkerProcess, Set<WorkerProcess>>();

  /** `lastWords`: what it hears where none of the others is left. */
  came(comer: WorkerProcess, alive: readonly WorkerProcess[], lastWords: Facts | undefined): void {
    // One that has not greeted yet knows nothing.
    const others = alive.filter((each) => each !== comer && each.hasJoined);
    comer.hasJoined = true;
    if (others.length === 0 && lastWords !== undefined) comer.send(lastWords);
    this.#comers.set(comer, new Set(others));
    for (const each of others) each.send({ kind: "mark", comer: comer.worker });
    this.#look(comer);
  }

  marked(by: WorkerProcess, worker: number): void {
    for (const [comer, missing] of this.#comers) {
      if (comer.worker !== worker) continue;
      missing.delete(by);
      this.#look(comer);
    }
  }

  ended(worker: WorkerProcess): void {
    this.#comers.delete(worker);
    for (const [comer, missing] of this.#comers) if (missing.delete(worker)) this.#look(comer);
  }

  #look(comer: WorkerProcess): void {
    if (this.#comers.get(comer)?.size !== 0) return;
    this.#comers.delete(comer);
    comer.send({ kind: "joined" });
  }
}
