/** So many messages, and characters of them, may be on their way; further ones that may be lost are. */
const MOST_UNSENT = 64;
const MOST_UNSENT_CHARS = 16_000_000;

/** One end of the channel between two processes. */
export interface Channel {
  readonly connected: boolean;
  send?(message: unknown, done: (error: Error | null) => void): boolean;
}

/** Sends to another process, and never waits for it. */
export class BoundedSender<Message extends object> {
  readonly #channel: Channel;
  #unsent = 0;
  #unsentChars = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** Never throws: a process that has gone is told nothing. */
  send(message: Message): void {
    if (!this.#channel.connected) return;
    try {
      this.#channel.send?.(message, () => {});
    } catch {
      // It has just gone.
    }
  }

  /** The same for what may be lost: it is, while the other process does not read. Returns whether it is on its way. */
  offer(message: Message, chars: number): boolean {
    if (!this.#channel.connected || this.#unsent >= MOST_UNSENT || this.#unsentChars + chars > MOST_UNSENT_CHARS) return false;
    this.#unsent += 1;
    this.#unsentChars += chars;
    try {
      this.#channel.send?.(message, () => this.#sent(chars));
    } catch {
      this.#sent(chars);
      return false;
    }
    return true;
  }

  #sent(chars: number): void {
    this.#unsent -= 1;
    this.#unsentChars -= chars;
  }
}
