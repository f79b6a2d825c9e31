const first = 500
const longest = 8000

/** The delay before a connection is tried again: doubled each time, with up to a fifth of jitter. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const delay = Math.min(longest, first * 2 ** Math.min(attempt, 10))
  return Math.round(delay * (0.8 + 0.2 * random()))
}
