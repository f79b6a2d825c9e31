import { ProblemError, problemOf } from '../api/problem.ts'
import { sessionEnded } from '../session/session.ts'
import type { Verb } from './verbs.ts'

/** The result of a verb: the document that the CLI prints for it. */
export interface Change {
  changed: boolean
  message: string
}

/** Verbs wait for the API server, which may be slow during an upgrade. */
const timeout = 30_000

export async function applyVerb(operation: string, verb: Verb): Promise<Change> {
  const response = await fetch(`/api/v1alpha1/operations/${encodeURIComponent(operation)}/${verb}`, {
    method: 'POST', credentials: 'same-origin', signal: AbortSignal.timeout(timeout),
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (response.status === 401) sessionEnded()
  if (!response.ok) throw new ProblemError(problemOf(response, body))
  return body as Change
}
