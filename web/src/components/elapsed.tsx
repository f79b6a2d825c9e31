import { stopwatch } from '../format/stopwatch.ts'

/** The time since a moment. It stops at asOf, because stale data does not prove that a step continues. */
export function Elapsed({ since, asOf }: { since: string; asOf: number }) {
  return <time dateTime={since} className="refit-clock">{stopwatch(asOf - Date.parse(since))}</time>
}
