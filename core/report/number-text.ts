/** Made once: on Deno, `toLocaleString` makes one each time, which takes 18 µs. */
const ENGLISH = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 12,345 */
export const whole = (value: number) => ENGLISH.format(value);

/** 12.3% */
export const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;

/** 850 ms, 12.3 s */
export const milliseconds = (ms: number) => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** 1 replica, 12,345 replicas */
export const counted = (count: number, noun: string, more = `${noun}s`) => `${whole(count)} ${count === 1 ? noun : more}`;
