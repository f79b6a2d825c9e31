import type { ListedRelease, State } from '../../api/documents.ts'
import { compareVersions, versionParts } from '../../format/version.ts'

/** One version on the way, and whether a ClusterRelease for it exists. */
export interface Hop {
  version: string
  missing: boolean
}

/** What a ClusterRelease is to the versions that the nodes run. */
export type Relation = 'newer' | 'partly' | 'same' | 'older'

export interface Offer {
  release: ListedRelease
  relation: Relation
  hops: Hop[]
}

/** The ClusterReleases, the newest first, each with the way to it: Kubernetes goes one minor version at a time. */
export function offersOf(releases: ListedRelease[], versions: State['nodes']['versions']): Offer[] {
  const running = versions.map(({ kubelet }) => kubelet).filter((version) => versionParts(version).length > 0).sort(compareVersions)
  const newest = running.at(-1) ?? ''
  const oldest = running[0] ?? ''
  return releases
    .toSorted((a, b) => compareVersions(b.kubernetes, a.kubernetes))
    .map((release) => ({ release, relation: relationOf(release.kubernetes, oldest, newest), hops: hopsTo(release, newest, releases) }))
}

function relationOf(version: string, oldest: string, newest: string): Relation {
  if (newest === '' || compareVersions(version, newest) > 0) return 'newer'
  if (compareVersions(version, oldest) > 0) return 'partly'
  return version === newest && version === oldest ? 'same' : 'older'
}

function hopsTo(release: ListedRelease, from: string, releases: ListedRelease[]): Hop[] {
  const [major = 0, minor = 0] = versionParts(from)
  const [, last = 0] = versionParts(release.kubernetes)
  const hops: Hop[] = []
  for (let next = minor + 1; next < last && from !== ''; next++) {
    const found = releases.filter(({ kubernetes }) => kubernetes.startsWith(`v${major}.${next}.`)).map(({ kubernetes }) => kubernetes).sort(compareVersions).at(-1)
    hops.push({ version: found ?? `v${major}.${next}`, missing: found === undefined })
  }
  return [...hops, { version: release.kubernetes, missing: false }]
}
