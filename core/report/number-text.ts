/** 12,345 */
export const whole = (value: number) => Math.round(value).toLocaleString("en-US");

/** 12.3% */
export const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;

/** 850 ms, 12.3 s */
export const milliseconds = (ms: number) => (ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
