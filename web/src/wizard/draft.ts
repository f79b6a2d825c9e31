import type { ClusterUpgradeSpec, PoolSpec, WaiverSpec } from '../api/documents.ts'

/** The policy for a group of workers as it is typed: texts, so that the server can refuse them at their fields. */
export interface PoolDraft {
  name: string
  /** Such as example.com/pool=gpu, zone=a */
  labels: string
  maxUnavailable: string
  canary: boolean
  canaryNodes: string
  soak: string
  when: 'MinorReleases' | 'AllReleases'
  timeout: string
  onBlocked: 'Wait' | 'Skip' | 'Fail' | 'Delete'
}

/** An upgrade that is being prepared. */
export interface Draft {
  /** The name of the ClusterRelease. */
  release: string
  /** The version of Kubernetes, for a draft that was not made with a ClusterRelease. */
  kubernetes: string
  scope: 'All' | 'ControlPlane' | 'Workers'
  rollback: 'Auto' | 'Manual'
  /** The pool default is the last one. */
  pools: PoolDraft[]
  waivers: WaiverSpec[]
  /** What the pages have no field for. */
  rest: Pick<ClusterUpgradeSpec, 'nodeSelector' | 'backup' | 'approval' | 'abandonedNodes'>
}

export const defaultPool = 'default'

export function newPool(name: string): PoolDraft {
  return {
    name, labels: '', maxUnavailable: '1', canary: false, canaryNodes: '1', soak: '10m', when: 'MinorReleases', timeout: '15m',
    onBlocked: 'Wait',
  }
}

export function newDraft(): Draft {
  return {
    release: '', kubernetes: '', scope: 'All', rollback: 'Auto', pools: [newPool(defaultPool)], waivers: [], rest: {},
  }
}

/** The spec of a draft. The pool default is absent if it has no policy of its own. */
export function specOf(draft: Draft): ClusterUpgradeSpec {
  const { release, kubernetes, scope, rollback, waivers, rest } = draft
  const pools = draft.pools.map(poolOf)
  if (isDefault(draft.pools.at(-1))) pools.pop()
  return {
    ...rest,
    target: kubernetes !== '' ? { kubernetes } : { release },
    scope,
    ...(rollback !== 'Auto' && { rollback }),
    ...(pools.length > 0 && { pools }),
    ...(waivers.length > 0 && { waivers }),
  }
}

function isDefault(pool: PoolDraft | undefined): boolean {
  return pool !== undefined && JSON.stringify(pool) === JSON.stringify(newPool(defaultPool))
}

function poolOf(pool: PoolDraft): PoolSpec {
  const { name, maxUnavailable, canary, canaryNodes, soak, when, timeout, onBlocked } = pool
  return {
    name,
    ...(name !== defaultPool && { nodeSelector: labelsOf(pool.labels) }),
    maxUnavailable: isWhole(maxUnavailable) ? Number(maxUnavailable) : maxUnavailable.trim(),
    ...(canary && { canary: { nodes: Number(canaryNodes), soak: soak.trim() } }),
    drain: { when, timeout: timeout.trim(), onBlocked },
  }
}

/** The draft of a spec, such as that of a check in the address. */
export function draftOf(spec: ClusterUpgradeSpec): Draft {
  const { target, scope = 'All', rollback = 'Auto', pools = [], waivers = [], nodeSelector, backup, approval, abandonedNodes } = spec
  const others = pools.filter(({ name }) => name !== defaultPool).map(poolDraftOf)
  const last = pools.find(({ name }) => name === defaultPool)
  return {
    release: target.release ?? '', kubernetes: target.kubernetes ?? '', scope, rollback,
    pools: [...others, last ? poolDraftOf(last) : newPool(defaultPool)], waivers,
    rest: { ...(nodeSelector && { nodeSelector }), ...(backup && { backup }), ...(approval && { approval }), ...(abandonedNodes && { abandonedNodes }) },
  }
}

function poolDraftOf({ name, nodeSelector = {}, maxUnavailable, canary, drain }: PoolSpec): PoolDraft {
  const base = newPool(name)
  return {
    name,
    labels: Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`).join(', '),
    maxUnavailable: String(maxUnavailable ?? base.maxUnavailable),
    canary: canary !== undefined,
    canaryNodes: String(canary?.nodes ?? base.canaryNodes),
    soak: shortDuration(canary?.soak ?? base.soak),
    when: drain?.when ?? base.when,
    timeout: shortDuration(drain?.timeout ?? base.timeout),
    onBlocked: drain?.onBlocked ?? base.onBlocked,
  }
}

/** Go writes 15m as 15m0s. */
export function shortDuration(duration: string): string {
  return duration.replace(/(\d+m)0s$/, '$1').replace(/(\d+h)0m$/, '$1')
}

export function isWhole(text: string): boolean {
  return /^\s*\d{1,5}\s*$/.test(text)
}

/** The labels in a text such as a=b, c=d. A part without an equals sign is a label without a value. */
export function labelsOf(text: string): Record<string, string> {
  const parts = text.split(',').map((part) => part.trim()).filter(Boolean)
  return Object.fromEntries(parts.map((part) => {
    const [key = '', ...value] = part.split('=')
    return [key.trim(), value.join('=').trim()]
  }))
}
