import createClient from 'openapi-fetch'
import { sessionEnded } from '../session/session.ts'
import { ProblemError, problemOf } from './problem.ts'
import type { paths } from './schema.ts'

/** A frozen server accepts requests and does not answer them. */
const requestTimeout = 15_000

/** Returns a fetch that gives up after so many milliseconds. */
export function fetchWithin(timeout: number) {
  return (request: Request) => fetch(new Request(request, {
    credentials: 'same-origin', signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]),
  }))
}

export const client = createClient<paths>({ baseUrl: window.location.origin, fetch: fetchWithin(requestTimeout) })

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** Returns the data of an answer, or throws its problem. */
export async function dataOf<T>(answering: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answering
  if (response.ok && data !== undefined) return data
  if (response.status === 401) sessionEnded()
  throw new ProblemError(problemOf(response, error))
}
