import type { Operation } from '../api/documents.ts'
import { connectionRefusal, permissionRefusal, type Refusal, type WriteSituation } from '../writes/refusal.ts'

export const verbs = ['pause', 'resume', 'retry', 'abort'] as const
export type Verb = (typeof verbs)[number]

export interface Situation extends WriteSituation {
  operation: Operation
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
  const { operation, me } = situation
  if (operation.ended) return { reason: 'ended' }
  const forbidden = permissionRefusal(routes[verb], me)
  if (forbidden) return forbidden
  if (operation.aborted) return { reason: 'aborting' }
  const unreachable = connectionRefusal(situation)
  if (unreachable) return unreachable
  return verb === 'retry' && !canRetry(operation) ? { reason: 'nothingToRetry' } : undefined
}

function canRetry({ phase, failures, nodes }: Operation): boolean {
  return phase === 'Stalled' || failures.length > 0 || nodes.skipped > 0
}
