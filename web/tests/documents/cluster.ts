import type { ListedRelease, Operation, PastOperation, State } from '../../src/api/documents.ts'
import { ago } from './time.ts'

export const releases: ListedRelease[] = [
  {
    name: 'kubernetes-v1.36.3', kubernetes: 'v1.36.3', createTime: '2026-11-10T09:00:00Z', operations: ['to-v1-36-3'],
    verifiedHosts: 5, rejectedHosts: 0, components: [{ name: 'cilium', version: 'v1.19.1' }, { name: 'metrics-server', version: 'v0.9.0' }],
  },
  { name: 'kubernetes-v1.35.4', kubernetes: 'v1.35.4', createTime: '2026-08-02T09:00:00Z', verifiedHosts: 0, rejectedHosts: 0 },
]

/** A ClusterRelease three minor versions ahead, without one for each hop. */
export const manyHops: ListedRelease[] = [
  {
    name: 'kubernetes-v1.38.0', kubernetes: 'v1.38.0', createTime: '2026-11-18T09:00:00Z', verifiedHosts: 0, rejectedHosts: 0,
    keyID: 'SHA256:1Lz5yI2Yp0e0r2w6mB6fF8n2QmWk3QqE0tVxJcX9d5k',
  },
  { name: 'kubernetes-v1.34.9', kubernetes: 'v1.34.9', createTime: '2026-03-18T09:00:00Z', verifiedHosts: 0, rejectedHosts: 0 },
]

export function stateOf(operation?: Operation): State {
  const total = operation?.nodes.total ?? 5
  const done = operation?.nodes.done ?? 0
  const versions = [{ kubelet: 'v1.36.3', nodes: done }, { kubelet: 'v1.35.4', nodes: total - done }].filter(({ nodes }) => nodes > 0)
  return {
    cluster: 'prod', source: 'api', observedAt: ago(0), apiServer: { reachable: true, answeredAt: ago(0) }, ...(operation && { operation }),
    operations: 3, leader: 'refit-controller-5c9d7b6f4-k2x8v', releases, nodes: { total, controlPlane: 3, ready: total, agents: total, versions }, unread: [],
  }
}

export function history(current?: Operation): PastOperation[] {
  const past: PastOperation[] = [
    {
      name: 'to-v1-35-4', phase: 'Succeeded', ended: true, from: 'v1.34.4', to: 'v1.35.4', scope: 'All', startTime: '2026-08-03T22:00:00Z',
      completionTime: '2026-08-03T22:41:12Z', nodes: { total: 5, done: 5, failed: 0, skipped: 0 },
    },
    {
      name: 'workers-to-v1-34-4', phase: 'Aborted', ended: true, from: 'v1.33.9', to: 'v1.34.4', scope: 'Workers', startTime: '2026-04-18T21:00:00Z',
      completionTime: '2026-04-18T21:20:00Z', nodes: { total: 2, done: 1, failed: 1, skipped: 0 }, failed: ['worker-2'],
    },
  ]
  if (!current) return past
  const { name, phase, ended, from, to, scope, startTime, completionTime, nodes, message } = current
  return [{ name, phase, ended, to, scope, startTime, nodes, ...(from && { from }), ...(completionTime && { completionTime }), ...(message && { message }) }, ...past]
}

/** The API server is unreachable because the agent of cp-2 swaps it. */
export function expectedOutage(state: State): State {
  return {
    ...state, source: 'last-known', observedAt: ago(12),
    apiServer: {
      reachable: false, answeredAt: ago(13), unreachableSince: ago(12), error: 'dial tcp 10.0.0.100:6443: connect: connection refused',
      outage: {
        apiVersion: 'cli.refit.dev/v1alpha1', kind: 'Outage', expected: true, cause: 'Step', since: ago(12), node: 'cp-2', step: 'swap-apiserver', stepSince: ago(12),
        message: 'Expected: cp-2 is at swap-apiserver for 0:12 (agent, 1 s ago); rolls back by itself after 2:30 at the latest',
        rollsBackAt: ago(-150), source: 'agent', observedAt: ago(1),
      },
    },
  }
}

export function unexpectedOutage(state: State): State {
  return {
    ...state, source: 'last-known', observedAt: ago(120),
    apiServer: {
      reachable: false, answeredAt: ago(121), unreachableSince: ago(120), error: 'dial tcp 10.0.0.100:6443: i/o timeout',
      outage: {
        apiVersion: 'cli.refit.dev/v1alpha1', kind: 'Outage', expected: false, cause: 'Other', since: ago(120),
        message: 'Not part of the upgrade: no step in progress restarts an API server', investigate: "crictl ps -a --name 'kube-apiserver|etcd'", investigateOn: 'cp-1',
      },
    },
  }
}

/** A cluster without Refit. */
export function withoutRefit(state: State): State {
  const message = 'the server could not find the requested resource'
  const rest = { ...state }
  delete rest.leader
  return {
    ...rest, notInstalled: true, operations: 0, releases: [], nodes: { ...state.nodes, agents: 0 },
    unread: ['ClusterReleases', 'ClusterUpgrades', 'NodeReports', 'NodeUpgrades'].map((part) => ({ part, message })),
  }
}
