import type { Me, Operation } from '../api/documents.ts'
import type { ServeLink } from '../live/stream.ts'

export const verbs = ['pause', 'resume', 'retry', 'abort'] as const
export type Verb = (typeof verbs)[number]

/** Why a verb is not possible: a key of the texts, and the permission that the user lacks. */
export interface Refusal {
  reason: 'ended' | 'aborting' | 'nothingToRetry' | 'serve' | 'api' | 'session' | 'permission' | 'unsupported'
  missing?: string | undefined
}

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

/** The routes of the verbs, by which the server lists permissions. */
const routes: Record<Verb, string> = {
  pause: 'PauseOperation', resume: 'ResumeOperation', retry: 'RetryOperation', abort: 'AbortOperation',
}

/**
 * Why the user cannot apply a verb now, the cause that changes last first. Undefined if nothing
 * prevents it; the server decides in any case.
 */
export function refusalOf(verb: Verb, situation: Situation): Refusal | undefined {
  const { operation, serve, apiReachable, signedOut, me } = situation
  if (operation.ended) return { reason: 'ended' }
  if (me !== undefined) {
    const permission = me.permissions.find((one) => one.operation === routes[verb])
    if (permission === undefined) return { reason: 'unsupported' }
    if (!permission.allowed) return { reason: 'permission', missing: permission.missing }
  }
  if (operation.aborted) return { reason: 'aborting' }
  if (signedOut) return { reason: 'session' }
  if (serve.state !== 'live') return { reason: 'serve' }
  if (!apiReachable) return { reason: 'api' }
  if (verb === 'retry' && !canRetry(operation)) return { reason: 'nothingToRetry' }
  return undefined
}

function canRetry({ phase, failures, nodes }: Operation): boolean {
  return phase === 'Stalled' || failures.length > 0 || nodes.skipped > 0
}
