import type { Check, ClusterUpgradeSpec, Report } from '../../src/api/documents.ts'
import blocked from './reports/blocked.json' with { type: 'json' }
import plan from './reports/plan.json' with { type: 'json' }
import single from './reports/single.json' with { type: 'json' }
import waived from './reports/waived.json' with { type: 'json' }
import { changedHash } from './operation.ts'
import { ago } from './time.ts'

// What `refit plan -o json` prints for examples/snapshot.json, and for changes of it.
export const reports = {
  plan: plan as Report,
  /** With a cordoned worker, full disks, a PodDisruptionBudget, a missing agent and unreadable webhooks. */
  blocked: blocked as Report,
  /** The same with a waiver for the PodDisruptionBudget. */
  waived: waived as Report,
  /** One node. */
  single: single as Report,
}

export const spec: ClusterUpgradeSpec = { target: { release: 'kubernetes-v1.36.3' }, scope: 'All' }

export function checkOf(report: Report, id = 'c-1', of: ClusterUpgradeSpec = spec): Check {
  return {
    id, state: 'Complete', spec: of, startTime: ago(12), completionTime: ago(8), expireTime: ago(-3600),
    report: {
      ...report, cluster: { ...report.cluster, takenAt: ago(10) },
      findings: report.findings.map((finding) => finding.reportTime ? { ...finding, reportTime: ago(700) } : finding),
    },
  }
}

export function runningCheck(id = 'c-1', of: ClusterUpgradeSpec = spec): Check {
  return { id, state: 'Running', spec: of, startTime: ago(4), expireTime: ago(-3600), part: 'pods' }
}

/** The report with another plan: a node has joined. */
export function changedReport(): Report {
  const changed = structuredClone(reports.plan)
  if (!changed.plan) throw new Error('the report has no plan')
  changed.plan.hash = changedHash
  changed.plan.estimate.seconds += 75
  const workers = changed.plan.stages.find(({ name }) => name === 'Workers')
  workers?.nodes?.push({ name: 'worker-6', pool: 'default', from: 'v1.35.4', drain: true, estimate: { seconds: 75, observed: false } })
  return changed
}

export const manifest = `apiVersion: refit.dev/v1alpha1
kind: ClusterUpgrade
metadata:
  name: to-v1-36-3
spec:
  target:
    release: kubernetes-v1.36.3
`
