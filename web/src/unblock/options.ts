import type { Blocker, ClusterUpgradeSpec, PoolSpec, WaiverSpec } from '../api/documents.ts'
import { defaultPool, newPool, shortDuration } from '../wizard/draft.ts'

/** What the user can accept so that a drain continues. */
export type Unblock =
  /** A pod is lost, or its data: a waiver for it. */
  | { kind: 'waive'; check: string; object: string; pod: string }
  /** The policy of a pool for nodes that cannot be drained. */
  | { kind: 'Skip' | 'Delete' }

/** The ways to let a drain continue. A PodDisruptionBudget has no waiver: the policy of the pool decides. */
export function unblocksOf(blockers: Blocker[]): Unblock[] {
  const waivers = blockers.flatMap(({ pod, waiver, object }): Unblock[] => waiver && object ? [{ kind: 'waive', check: waiver, object, pod }] : [])
  const different = waivers.filter((one, i) => waivers.findIndex((other) => keyOf(other) === keyOf(one)) === i)
  return [...different, { kind: 'Skip' }, { kind: 'Delete' }]
}

export function keyOf(unblock: Unblock): string {
  return unblock.kind === 'waive' ? `${unblock.check}/${unblock.object}` : unblock.kind
}

/** The names of the pools of an upgrade. The pool default always exists. */
export function poolNames({ pools = [] }: ClusterUpgradeSpec): string[] {
  return [...pools.map(({ name }) => name).filter((name) => name !== defaultPool), defaultPool]
}

/** How long a drain of a pool may take until the policy for blocked drains applies. */
export function timeoutOf({ pools = [] }: ClusterUpgradeSpec, pool: string): string {
  return shortDuration(pools.find(({ name }) => name === pool)?.drain?.timeout ?? newPool(pool).timeout)
}

/** The milliseconds of a duration such as 1h30m. Undefined: it is not one. */
export function millisecondsOf(duration: string): number | undefined {
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== duration) return undefined
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0)
}

/** What a person accepts, and for a policy the timeout of a drain. */
export interface Acceptance { unblock: Unblock; pool: string; reason: string; timeout: string }

/** The merge patch of a choice. A list replaces the whole list. */
export function patchOf({ unblock, pool, reason, timeout }: Acceptance, spec: ClusterUpgradeSpec): { waivers: WaiverSpec[] } | { pools: PoolSpec[] } {
  if (unblock.kind === 'waive') return { waivers: [...spec.waivers ?? [], { check: unblock.check, object: unblock.object, reason }] }
  const { kind } = unblock
  const pools = spec.pools ?? []
  const known = pools.some(({ name }) => name === pool) ? pools : [...pools, { name: pool }]
  return { pools: known.map((one) => one.name === pool ? { ...one, drain: { ...one.drain, onBlocked: kind, ...(timeout !== timeoutOf(spec, pool) && { timeout }) } } : one) }
}

