import { queryOptions } from '@tanstack/react-query'
import { ProblemError, problemOf } from '../api/problem.ts'
import { keys } from '../data/keys.ts'
import { sessionEnded, sessionStarted } from './session.ts'

/** The user, and what the user may do. */
export interface Me {
  user: string
  expiresAt?: string
  permissions?: Record<string, boolean>
}

export const meQuery = queryOptions({
  queryKey: keys.me,
  queryFn: async ({ signal }): Promise<Me> => {
    const response = await fetch('/api/v1alpha1/me', {
      credentials: 'same-origin', signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (response.status === 401) sessionEnded()
    if (!response.ok) throw new ProblemError(problemOf(response, body))
    sessionStarted()
    return body as Me
  },
  // Permissions change without an event.
  staleTime: 60_000,
  refetchInterval: 60_000,
})
