import type { Heartbeat, Observed, Source } from '../api/documents.ts'
import { useStore } from '../store.ts'
import { useNow } from './clock.ts'
import { heartbeat, serveLink } from './links.ts'
import { silenceLimit, type ServeLink } from './stream.ts'

export interface Freshness {
  source: Source
  /** The time of which the data is true, in milliseconds. */
  observedAt: number
  /** Data of the agent is not stale, but marked: it is not from the API server. */
  stale: boolean
  /** The time up to which running clocks count: stale data does not prove that a step continues. */
  asOf: number
}

/** How fresh an answer is that the stream keeps up to date since it arrived. */
export function freshnessOf(answer: Observed, beat: Heartbeat | undefined, link: ServeLink, now: number): Freshness {
  const answered = Date.parse(answer.observedAt)
  const confirmed = beat !== undefined && answer.source !== 'agent' ? Date.parse(beat.observedAt) : answered
  const newer = confirmed >= answered
  const source = newer && beat !== undefined && answer.source !== 'agent' ? beat.source : answer.source
  const observedAt = newer ? confirmed : answered
  const stale = source === 'last-known' || link.state === 'frozen' || link.state === 'lost' || link.state === 'signedOut' || now - observedAt > silenceLimit + 2000
  return { source, observedAt, stale, asOf: stale ? observedAt : Math.max(now, observedAt) }
}

export function useFreshness(answer: Observed): Freshness {
  const now = useNow()
  return freshnessOf(answer, useStore(heartbeat), useStore(serveLink), now)
}
