import type { Explanation, NodeRow, Operation } from '../../src/api/documents.ts'
import { stalled } from './operation.ts'
import { ago } from './time.ts'

/** The rows of the nodes of an operation, so many. */
export function rowsOf(operation: Operation, count = operation.nodes.total): NodeRow[] {
  const names = ['cp-1', 'cp-2', 'cp-3', ...Array.from({ length: Math.max(0, count - 3) }, (_, i) => `worker-${i + 1}`)]
  return names.map((node, i) => {
    const active = operation.active.find((one) => one.node === node)
    const done = active === undefined && i < operation.nodes.done
    const failed = operation.failures.some((failure) => failure.node === node)
    const skipped = operation.ended && i >= names.length - operation.nodes.skipped
    return {
      node, controlPlane: i < 3, kubelet: done ? 'v1.36.3' : 'v1.35.4', ready: true, agent: 'v0.2.0',
      ...stateOf(operation, { failed, skipped, done, active: active !== undefined }),
      ...((done || failed) && { from: 'v1.35.4' }),
      ...(failed && { rolledBack: true }),
      ...(active && { activity: active.activity, cordon: 'Refit' }),
      ...(active?.step && { step: active.step }),
      ...(active?.since && { since: active.since }),
      ...(active?.remaining && { remaining: active.remaining }),
      ...(active?.blockers && { blockers: active.blockers.length }),
    }
  })
}

/** The rows of a cluster whose last upgrade has ended. */
export function idleRows(last: string): NodeRow[] {
  return ['cp-1', 'cp-2', 'cp-3', 'worker-1', 'worker-2'].map((node, i) => ({
    node, controlPlane: i < 3, kubelet: 'v1.35.4', ready: true, agent: 'v0.2.0', state: 'Idle', from: 'v1.34.4',
    message: `No upgrade is in progress; the last one, ${last}, is Succeeded.`,
  }))
}

/** The rows of a cluster without an upgrade. */
export function newRows(installed = true): NodeRow[] {
  return idleRows('').map(({ node, controlPlane, kubelet, ready, state }) => ({
    node, controlPlane, ready, state, message: 'There has been no upgrade in this cluster.', ...(kubelet && { kubelet }), ...(installed && { agent: 'v0.2.0' }),
  }))
}

/** The state of a node, as the server describes it. */
function stateOf({ ended, name, phase }: Operation, node: { failed: boolean; skipped: boolean; done: boolean; active: boolean }): { state: string; message: string } {
  if (node.failed) {
    return { state: 'Failed', message: 'The node failed at swap-kubelet: the kubelet does not become healthy. It was rolled back to its old version and is healthy.' }
  }
  if (node.skipped) return { state: 'Skipped', message: "The node was not drained before the timeout and was skipped, as its pool's policy requires. It is uncordoned." }
  if (ended) return { state: 'Idle', message: `No upgrade is in progress; the last one, ${name}, is ${phase}.` }
  if (node.done) return { state: 'Done', message: 'The node is at v1.36.3.' }
  return { state: node.active ? 'Active' : 'Waiting', message: 'The node has prefetched everything and waits for its turn.' }
}

function explanation(node: string): Explanation {
  return {
    apiVersion: 'cli.refit.dev/v1alpha1', kind: 'Explanation', cluster: 'prod', node, state: 'Waiting',
    message: 'The node waits for its turn. The upgrade is Running: Upgrading cp-2 to v1.36.3: swap-etcd.',
    host: { controlPlane: node.startsWith('cp-'), kubelet: 'v1.35.4', ready: true, readySince: ago(3 * 86400), agent: 'v0.2.0', reportedAt: ago(240) },
    operation: { name: 'to-v1-36-3', phase: 'Running', to: 'v1.36.3' },
    order: { operation: 'to-v1-36-3', permit: 'Prefetch', release: 'kubernetes-v1.36.3', answered: true, phase: 'Prefetched' },
  }
}

export function failedNode(): Explanation {
  const names = ['fetch', 'import-images', 'check-host', 'stage-files']
  return {
    ...explanation('worker-1'), state: 'Failed', message: 'The node failed at swap-kubelet: the kubelet does not become healthy.',
    remedy: 'remove the flag --container-runtime from /etc/default/kubelet. Then run `refit retry`',
    host: { ...explanation('worker-1').host, cordon: 'Refit' },
    operation: { name: 'to-v1-36-3', phase: stalled().phase, to: 'v1.36.3' },
    order: { operation: 'to-v1-36-3', permit: 'Apply', release: 'kubernetes-v1.36.3', answered: true, phase: 'Failed', attempt: 1 },
    drain: { phase: 'Drained', startTime: ago(300), completionTime: ago(240) },
    steps: [
      ...names.map((name, i) => ({ name, state: 'Done', startTime: ago(200 - 15 * i), completionTime: ago(185 - 15 * i) })),
      { name: 'swap-kubelet', state: 'Failed', startTime: ago(140), completionTime: ago(60) },
    ],
    error: {
      class: 'ManualIntervention', reason: 'KubeletUnhealthy', step: 'swap-kubelet', message: 'the kubelet does not become healthy',
      remedy: 'remove the flag --container-runtime from /etc/default/kubelet', at: ago(60),
      logTail: [
        'systemd[1]: Started kubelet.service - kubelet: The Kubernetes Node Agent.',
        'kubelet[812]: E1115 11:58:51 run.go:72] "command failed" err="failed to parse kubelet flag: unknown flag: --container-runtime"',
        'systemd[1]: kubelet.service: Main process exited, code=exited, status=1/FAILURE',
        'systemd[1]: kubelet.service: Failed with result \'exit-code\'.',
      ].join('\n'),
    },
  }
}

export function blockedNode(): Explanation {
  const blockers = Array.from({ length: 3 }, (_, i) => ({
    pod: `shop/cart-7d9f5b8c6d-x2x${i}`, reason: 'PodDisruptionBudget shop/cart allows 0 more disruptions',
  }))
  return {
    ...explanation('worker-1'), state: 'Active', message: 'The node is being drained, and pods block the drain.',
    remedy: 'Make the listed pods evictable: add replicas, change the disruption budget, or delete pods without a controller',
    host: { ...explanation('worker-1').host, cordon: 'Refit' },
    progress: { node: 'worker-1', activity: 'Drain', remaining: 3, since: ago(65), blockers },
    drain: { phase: 'Blocked', remaining: 3, startTime: ago(65), blockers },
  }
}

export function activeNode(): Explanation {
  return {
    ...explanation('cp-2'), state: 'Active', message: 'The agent upgrades the host: swap-apiserver.',
    progress: { node: 'cp-2', activity: 'Upgrade', step: 'swap-apiserver', since: ago(12) },
    order: { operation: 'to-v1-36-3', permit: 'Apply', release: 'kubernetes-v1.36.3', answered: true, phase: 'Applying' },
    steps: [
      { name: 'swap-etcd', state: 'Done', startTime: ago(60), completionTime: ago(20) },
      { name: 'swap-apiserver', state: 'Running', startTime: ago(12) },
    ],
  }
}
