import { client, dataOf } from '../api/client.ts'
import type { Me, SignInWays } from '../api/documents.ts'
import { ProblemError, problemOf } from '../api/problem.ts'
import { sessionStarted } from './session.ts'

/** Signs in with a one-time code or with a token. The server answers with a cookie. */
export async function signIn(credential: { code: string } | { token: string }): Promise<Me> {
  const { data, error, response } = await client.POST('/api/v1alpha1/session', { body: credential })
  if (!response.ok || data === undefined) throw new ProblemError(problemOf(response, error)) // a 401 is about the credential
  sessionStarted()
  return data
}

export async function signOut(): Promise<void> {
  const { error, response } = await client.DELETE('/api/v1alpha1/session')
  if (!response.ok && response.status !== 401) throw new ProblemError(problemOf(response, error))
}

export async function readSignInWays(signal: AbortSignal): Promise<SignInWays> {
  return dataOf(client.GET('/api/v1alpha1/session', { signal }))
}

export async function readMe(signal: AbortSignal): Promise<Me> {
  const me = await dataOf(client.GET('/api/v1alpha1/me', { signal }))
  sessionStarted()
  return me
}
