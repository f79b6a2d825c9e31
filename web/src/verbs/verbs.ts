import type { Operation } from '../api/documents.ts'
import type { Me } from '../session/me.ts'
import type { ServeLink } from '../live/stream.ts'

export const verbs = ['pause', 'resume', 'retry', 'abort'] as const
export type Verb = (typeof verbs)[number]

/** Why a verb is not possible, as a key of the texts. */
export type Refusal = 'ended' | 'aborting' | 'nothingToRetry' | 'serve' | 'api' | 'session' | 'permission'

export interface Situation {
  operation: Operation
  serve: ServeLink
  apiReachable: boolean
  signedOut: boolean
  me: Me | undefined
}

/** The verbs that an operation has: one of pause and resume, and the others. */
export function verbsOf(operation: Operation): Verb[] {
  return verbs.filter((verb) => verb === 'pause' ? !operation.paused : verb === 'resume' ? operation.paused : true)
}

/**
 * Why the user cannot apply a verb now, the cause that changes last first. Undefined where nothing is
 * in the way; the server decides in any case.
 */
export function refusalOf(verb: Verb, { operation, serve, apiReachable, signedOut, me }: Situation): Refusal | undefined {
  if (operation.ended) return 'ended'
  if (me?.permissions?.[verb] === false) return 'permission'
  if (operation.aborted) return 'aborting'
  if (signedOut) return 'session'
  if (serve.state !== 'live') return 'serve'
  if (!apiReachable) return 'api'
  if (verb === 'retry' && operation.phase !== 'Stalled' && operation.failures.length === 0 && operation.nodes.skipped === 0) return 'nothingToRetry'
  return undefined
}
