import type { Problem } from './documents.ts'

/** A request that the server refused, with its reason. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

/** The problem in the body of an answer, or one for a body of another origin, such as a proxy. */
export function problemOf(response: Response, body: unknown): Problem {
  if (isProblem(body)) return body
  return {
    type: 'about:blank', title: response.statusText || `HTTP ${response.status}`, status: response.status,
    code: 'unknown', requestId: response.headers.get('X-Request-Id') ?? '',
  }
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'status' in body
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof ProblemError ? error.problem.status : undefined
}
