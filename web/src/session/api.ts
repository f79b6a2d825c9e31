import { ProblemError, problemOf } from '../api/problem.ts'
import { sessionStarted } from './session.ts'

const timeout = 15_000

/** Signs in with a one-time code or with a token. The server answers with a cookie. */
export async function signIn(credential: { code: string } | { token: string }): Promise<void> {
  const response = await fetch('/api/v1alpha1/session', {
    method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credential), signal: AbortSignal.timeout(timeout),
  })
  await check(response)
  sessionStarted()
}

export async function signOut(): Promise<void> {
  await check(await fetch('/api/v1alpha1/session', {
    method: 'DELETE', credentials: 'same-origin', signal: AbortSignal.timeout(timeout),
  }))
}

async function check(response: Response) {
  if (response.ok) return
  throw new ProblemError(problemOf(response, await response.json().catch(() => undefined)))
}
