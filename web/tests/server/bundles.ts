import type { BundlePart, SupportBundle } from '../../src/api/documents.ts'
import { ago } from '../documents/time.ts'
import { problem, type Answer } from './checks.ts'

const parts: BundlePart[] = [
  { path: 'objects/clusterupgrades.yaml', source: 'clusterupgrades', bytes: 4711, items: 1, truncated: false },
  { path: 'hosts/cp-1/journal/kubelet.log', source: 'journal of kubelet.service', node: 'cp-1', bytes: 1 << 20, truncated: true },
]

const missing: BundlePart = {
  source: 'journals of the host', node: 'worker-3', bytes: 0, truncated: false,
  error: {
    class: 'ManualInterventionRequired', reason: 'NodeUnreachable', message: 'the kubelet of worker-3 does not report its status: no Pod can start there',
    remedy: 'Repair the host. Run `refit-agent support-bundle` as root on the host.',
  },
}

/** The support bundles of a replayed server. They run until finish is called. */
export class Bundles {
  /** Whether the disk of the server is full. */
  full = false
  readonly requested: unknown[] = []
  #bundle: SupportBundle | undefined

  create(body: unknown): Answer {
    if (this.full) {
      return problem(507, 'no-space', 'The server has no disk space for a support bundle.', { remedy: 'Free disk space in the directory of the server' })
    }
    this.requested.push(body)
    this.#bundle = {
      id: `bundle-${this.requested.length}`, state: 'Running', startTime: ago(0), expireTime: ago(-3600), activity: 'cp-1 reads the journals', parts: parts.slice(0, 1),
    }
    return { status: 202, body: this.#bundle }
  }

  get(id: string): Answer {
    return this.#bundle?.id === id ? { status: 200, body: this.#bundle } : problem(404, 'not-found', `You have no support bundle "${id}".`)
  }

  finish() {
    if (!this.#bundle) return
    const { activity, ...bundle } = this.#bundle
    void activity
    this.#bundle = { ...bundle, state: 'Complete', completionTime: ago(0), parts: [...parts, missing], file: 'refit-support-bundle-20261119T080000Z.tar.gz', size: 3_407_872 }
  }
}
