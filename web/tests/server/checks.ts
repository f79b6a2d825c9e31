import type { Check, ClusterUpgradeSpec, FieldError, Operation, Problem, Report } from '../../src/api/documents.ts'
import { changedReport, checkOf, manifest, reports, runningCheck } from '../documents/checks.ts'
import { running } from '../documents/operation.ts'

/** An answer: a status and a body, and headers. */
export interface Answer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** The checks and starts of a replayed server. Tests set what happens next. */
export class Checks {
  /** The report of the next check. With a waiver for its PodDisruptionBudget, it is the waived one. */
  report: Report = reports.plan
  /** The fields that the server refuses. */
  invalid: FieldError[] = []
  /** Whether checks run until finish is called. */
  slow = false
  /** How the next start is answered. */
  onStart: 'start' | 'plan-changed' | 'blocked' | 'no-controllers' = 'start'
  /** How many answers to starts a proxy loses. */
  lost = 0
  readonly starts: { key: string; plan: string }[] = []
  readonly patches: { etag: string; body: unknown }[] = []
  readonly #checks = new Map<string, Check>()
  readonly #operations = new Map<string, Operation>()

  create(spec: ClusterUpgradeSpec): Answer {
    if (this.invalid.length > 0) return problem(422, 'invalid', 'The upgrade is invalid.', { errors: this.invalid })
    const check = this.slow ? runningCheck(this.#nextID(), spec) : this.#complete(spec)
    this.#checks.set(check.id, check)
    return { status: this.slow ? 202 : 200, body: check }
  }

  get(id: string): Answer {
    const check = this.#checks.get(id)
    return check ? { status: 200, body: check } : problem(404, 'not-found', `There is no check ${id}.`, { remedy: 'Check again' })
  }

  /** Completes the checks that run. */
  finish() {
    this.slow = false
    for (const [id, { state, spec }] of this.#checks) {
      if (state === 'Running') this.#checks.set(id, checkOf(this.#reportOf(spec), id, spec))
    }
  }

  manifest(): string {
    return manifest
  }

  /** One operation for each key, however often it is sent. */
  start(key: string, { spec, plan }: { spec: ClusterUpgradeSpec; plan: string }): Answer | undefined {
    this.starts.push({ key, plan })
    if (this.onStart === 'plan-changed') {
      this.onStart = 'start'
      this.report = changedReport()
      return problem(409, 'plan-changed', 'The plan has changed.', { check: this.#kept(spec) })
    }
    if (this.onStart === 'blocked') {
      this.onStart = 'start'
      this.report = reports.blocked
      return problem(409, 'blocked', 'Findings block the upgrade.', { check: this.#kept(spec) })
    }
    if (this.onStart === 'no-controllers') {
      return problem(409, 'no-controllers', 'No controller leads.', { remedy: 'Install the controllers: `refit install`' })
    }
    const known = this.#operations.get(key)
    const operation = known ?? { ...running(), name: 'to-v1-36-3' }
    this.#operations.set(key, operation)
    if (this.lost-- > 0) return undefined
    return { status: known ? 200 : 201, body: { name: operation.name, plan, approved: true, waitsFor: [], notes: [], operation } }
  }

  get operations(): number {
    return this.#operations.size
  }

  #kept(spec: ClusterUpgradeSpec): Check {
    const check = this.#complete(spec)
    this.#checks.set(check.id, check)
    return check
  }

  #complete(spec: ClusterUpgradeSpec): Check {
    return checkOf(this.#reportOf(spec), this.#nextID(), spec)
  }

  #reportOf({ waivers = [] }: ClusterUpgradeSpec): Report {
    return this.report === reports.blocked && waivers.length > 0 ? reports.waived : this.report
  }

  #nextID(): string {
    return `c-${this.#checks.size + 1}`
  }
}

export function problem(status: number, code: string, detail: string, more: Partial<Problem> = {}): Answer {
  return {
    status, headers: { 'Content-Type': 'application/problem+json' },
    body: { type: 'about:blank', title: code, status, code, detail, requestId: 'r-1', ...more },
  }
}
