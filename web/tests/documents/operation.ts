import type { Operation } from '../../src/api/documents.ts'
import { ago } from './time.ts'

const document = { apiVersion: 'cli.refit.dev/v1alpha1', kind: 'Operation' }
/** The plan of reports/plan.json. */
export const planHash = 'sha256:3c78bf5e32bd5a1e9896a114c1b498235f28aca4af156a16bd1cc73afa94a0f8'
/** The plan after a node has joined. */
export const changedHash = `sha256:${'ab'.repeat(32)}`

/** An operation on 3+2 nodes whose first control plane node is done. */
export function running(): Operation {
  return {
    ...document, cluster: 'prod', name: 'to-v1-36-3', phase: 'Running', ended: false, from: 'v1.35.4', to: 'v1.36.3', scope: 'All',
    startTime: ago(360), message: 'Upgrading cp-2 to v1.36.3: swap-etcd', since: ago(65), plan: planHash, approvedPlan: planHash,
    waiting: [{ reason: 'Waiting', message: 'Upgrading cp-2 to v1.36.3: swap-etcd', since: ago(65) }],
    stages: [
      { name: 'Prefetch', kubernetes: 'v1.36.3', state: 'Done', total: 5, done: 5 },
      { name: 'Backup', kubernetes: 'v1.36.3', state: 'Done', total: 1, done: 1 },
      { name: 'Rehearsal', kubernetes: 'v1.36.3', state: 'Done', total: 1, done: 1 },
      { name: 'ControlPlane', kubernetes: 'v1.36.3', state: 'InProgress', total: 3, done: 1 },
      { name: 'Workers', kubernetes: 'v1.36.3', state: 'Pending', total: 2, done: 0 },
      { name: 'Verify', state: 'Pending', total: 0, done: 0 },
    ],
    nodes: { total: 5, done: 1, failed: 0, skipped: 0 },
    active: [{ node: 'cp-2', activity: 'Upgrade', step: 'swap-etcd', since: ago(75), waits: 'etcd member cp-3 does not respond' }],
    failures: [], leftSeconds: 420,
  }
}

function workersInProgress(): Operation {
  const operation = running()
  operation.stages = operation.stages.map((stage) => stage.name === 'ControlPlane' ? { ...stage, state: 'Done', done: 3 }
    : stage.name === 'Workers' ? { ...stage, state: 'InProgress' } : stage)
  operation.nodes = { total: 5, done: 3, failed: 0, skipped: 0 }
  return operation
}

/** A worker failed and was rolled back. */
export function stalled(): Operation {
  const message = 'worker-1 failed at swap-kubelet and was rolled back: the kubelet does not become healthy'
  return {
    ...workersInProgress(), phase: 'Stalled', reason: 'NodeFailed', message, since: ago(60),
    remedy: 'Check the log of the kubelet: `journalctl -u kubelet`',
    waiting: [{ reason: 'NodeFailed', node: 'worker-1', message, since: ago(60), actionRequired: true }],
    nodes: { total: 5, done: 3, failed: 1, skipped: 0 }, leftSeconds: 0,
    active: [{ node: 'worker-1', activity: 'Failed', step: 'swap-kubelet', since: ago(60) }],
    failures: [{
      node: 'worker-1', class: 'ManualIntervention', step: 'swap-kubelet',
      message: 'the kubelet does not become healthy: unknown flag --container-runtime',
      remedy: 'Remove the flag from /etc/default/kubelet. Then run `refit retry`',
    }],
  }
}

/** Two PodDisruptionBudgets block the drain of a worker. */
export function drainBlocked(): Operation {
  const blocked = 'PodDisruptionBudget shop/cart allows 0 more disruptions'
  const message = `Draining worker-1 takes longer than 1 min: shop/cart-7d9f-x2x: ${blocked}`
  const remedy = "Make the pods evictable, or set the pool's drain.onBlocked to Skip, Fail or Delete"
  return {
    ...workersInProgress(), phase: 'Stalled', reason: 'DrainBlocked', message, since: ago(65), remedy,
    waiting: [
      { reason: 'DrainBlocked', node: 'worker-1', message, remedy, since: ago(65), actionRequired: true },
      { reason: 'Waiting', message: 'worker-2 waits until worker-1 is ready again', since: ago(40), moreNodes: 3 },
    ],
    active: [{
      node: 'worker-1', activity: 'Drain', since: ago(65), remaining: 2,
      blockers: [
        { pod: 'shop/cart-7d9f-x2x', reason: blocked },
        { pod: 'shop/payment-postgresql-primary-0', reason: 'PodDisruptionBudget shop/payment-postgresql-primary allows 0 more disruptions' },
      ],
    }],
  }
}

export function awaitingApproval(): Operation {
  const operation = running()
  delete operation.approvedPlan
  const message = `Waiting for approval of plan ${planHash}`
  return {
    ...operation, phase: 'AwaitingApproval', reason: 'ApprovalRequired', message, since: ago(120), waiting: [{ reason: 'ApprovalRequired', message, actionRequired: true }],
    remedy: 'Review the plan, then run `refit approve`', active: [], leftSeconds: 0,
    stages: operation.stages.map((stage) => ({ ...stage, state: 'Pending', done: 0 })), nodes: { total: 5, done: 0, failed: 0, skipped: 0 },
  }
}

/** A node joined after the plan was approved. */
export function planChanged(): Operation {
  const message = `The plan has changed and is now ${changedHash}`
  return {
    ...workersInProgress(), phase: 'AwaitingApproval', reason: 'PlanChanged', message, since: ago(90), active: [], leftSeconds: 0, proposedPlan: changedHash,
    remedy: `Review the changed plan, then run \`refit approve to-v1-36-3 --plan ${changedHash}\``, waiting: [{ reason: 'PlanChanged', message, actionRequired: true }],
  }
}

export function paused(): Operation {
  return { ...workersInProgress(), phase: 'Paused', paused: true, reason: 'Paused', message: 'Paused', waiting: [] }
}

export function succeeded(): Operation {
  const operation = running()
  return {
    ...operation, phase: 'Succeeded', ended: true, completionTime: ago(30), active: [], waiting: [], leftSeconds: 0,
    stages: operation.stages.map((stage) => ({ ...stage, state: 'Done', done: stage.total })), nodes: { total: 5, done: 5, failed: 0, skipped: 0 },
  }
}

/** It changed the components of the cluster, and was aborted after the first one. */
export function abortedComponents(): Operation {
  const stages = [{ name: 'Components', kubernetes: 'v1.36.3', state: 'InProgress', total: 3, done: 1 }, { name: 'Verify', state: 'Pending', total: 0, done: 0 }]
  return {
    ...running(), phase: 'Aborted', ended: true, aborted: true, completionTime: ago(30), active: [], waiting: [], leftSeconds: 0, componentsOnly: true,
    from: 'v1.36.3', components: { total: 3, done: 1 }, nodes: { total: 0, done: 0, failed: 0, skipped: 0 }, stages,
    failures: [{ component: 'kueue', class: 'ManualInterventionRequired', message: 'the Deployment kueue-controller-manager does not become available', remedy: 'Check its pods: `kubectl -n kueue-system get pods`. Then start another upgrade' }],
  }
}

/** It ended with a failed and a skipped worker. */
export function aborted(): Operation {
  const operation = stalled()
  delete operation.reason
  delete operation.remedy
  return {
    ...operation, failures: operation.failures.map((failure) => ({ ...failure, remedy: 'Remove the flag from /etc/default/kubelet. Then start another upgrade' })), phase: 'Aborted', ended: true, aborted: true, completionTime: ago(30), active: [], waiting: [],
    nodes: { total: 5, done: 3, failed: 1, skipped: 1 },
  }
}

/** 5,000 nodes, 40 of which are active. */
export function large(): Operation {
  const active = Array.from({ length: 40 }, (_, i) => i % 3 === 0
    ? { node: `worker-${1001 + i}`, activity: 'Upgrade', step: 'swap-kubelet', since: ago(i) }
    : { node: `worker-${1001 + i}`, activity: 'Drain', remaining: i % 6, since: ago(65) })
  return {
    ...workersInProgress(), message: 'Draining worker-1001, worker-1002, worker-1003 and 37 more', waiting: [],
    stages: [
      { name: 'Prefetch', kubernetes: 'v1.36.3', state: 'Done', total: 5000, done: 5000 },
      { name: 'ControlPlane', kubernetes: 'v1.36.3', state: 'Done', total: 3, done: 3 },
      { name: 'Workers', kubernetes: 'v1.36.3', state: 'InProgress', total: 4997, done: 1000 },
      { name: 'Verify', state: 'Pending', total: 0, done: 0 },
    ],
    nodes: { total: 5000, done: 1003, failed: 0, skipped: 2 }, active, leftSeconds: 40_200,
  }
}
