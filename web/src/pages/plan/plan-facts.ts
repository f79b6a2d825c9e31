import type { Plan, PlanStage, Report } from '../../api/documents.ts'

/** What the upgrade does to the API server. */
export type APIOutage = { kind: 'none' | 'workers' } | { kind: 'unreachable'; seconds: number }

/** With one control plane node, the API server is unreachable while that node changes. */
export function outageOf(plan: Plan, report: Report): APIOutage {
  const stages = plan.stages.filter(({ name, nodes }) => name === 'ControlPlane' && nodes?.length)
  if (stages.length === 0) return { kind: 'workers' }
  if (report.cluster.controlPlaneNodes > 1) return { kind: 'none' }
  return { kind: 'unreachable', seconds: sum(stages.map(({ estimate }) => estimate.seconds)) }
}

/** The nodes that change: those of the stages that upgrade nodes. */
export function changedNodes(plan: Plan): { controlPlane: number; workers: number } {
  const names = (stage: string) => new Set(plan.stages.filter(({ name }) => name === stage).flatMap(({ nodes = [] }) => nodes.map(({ name }) => name))).size
  return { controlPlane: names('ControlPlane'), workers: names('Workers') }
}

/** The pods that drains evict. */
export function evictions(plan: Plan): number {
  return sum(plan.stages.flatMap(({ nodes = [] }) => nodes.map(({ moves = 0 }) => moves)))
}

/** Whether a stage has a list of nodes with something to read: an order, a drain, a reason. */
export function hasOrder({ name, nodes = [] }: PlanStage): boolean {
  return nodes.length > 0 && name !== 'Prefetch'
}

/** Whether a stage does anything: a cluster without workers has nothing to do in theirs. */
export function hasContent({ nodes = [], components = [], estimate }: PlanStage): boolean {
  return nodes.length > 0 || components.length > 0 || estimate.seconds > 0
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
