import type { Plan } from '../api/documents.ts'
import { hasOrder } from '../pages/plan/plan-facts.ts'

/** What is compared of two plans. */
export interface Outline {
  hash: string
  to: string
  seconds: number
  /** The nodes that change. */
  nodes: string[]
  /** The ClusterReleases of the hops, each with its digest. */
  releases: string[]
  /** The changes of components. */
  components: string[]
}

export function outlineOf({ hash, to, estimate, stages, hops }: Plan): Outline {
  return {
    hash, to, seconds: estimate.seconds,
    nodes: [...new Set(stages.filter(hasOrder).flatMap(({ nodes = [] }) => nodes.map(({ name }) => name)))],
    releases: hops.flatMap(({ release }) => release ? [`${release.name} ${release.digest}`] : []),
    components: stages.flatMap(({ components = [] }) => components.map(({ name, action, from = '', to: next = '' }) => `${name} ${action} ${from} ${next}`)),
  }
}

export interface Differences {
  added: string[]
  removed: string[]
  seconds: number
  target?: { before: string; after: string }
  releases: boolean
  components: boolean
}

/** What is different in a plan that replaces another one. */
export function differences(before: Outline, after: Outline): Differences {
  const [old, now] = [new Set(before.nodes), new Set(after.nodes)]
  return {
    added: after.nodes.filter((name) => !old.has(name)), removed: before.nodes.filter((name) => !now.has(name)),
    seconds: after.seconds - before.seconds,
    ...(before.to !== after.to && { target: { before: before.to, after: after.to } }),
    releases: before.releases.join() !== after.releases.join(), components: before.components.join() !== after.components.join(),
  }
}
