import type { State } from '../../api/documents.ts'
import { compareVersions, versionParts } from '../../format/version.ts'

type Versions = State['nodes']['versions']

/** The versions of the kubelets, the newest first, and the number of minor versions between the ends. */
export function skewOf(versions: Versions): { sorted: Versions; minors: number } {
  const sorted = versions.toSorted((a, b) => compareVersions(b.kubelet, a.kubelet))
  const known = sorted.filter(({ kubelet }) => versionParts(kubelet).length > 0)
  const newest = versionParts(known[0]?.kubelet ?? '')
  const oldest = versionParts(known.at(-1)?.kubelet ?? '')
  return { sorted, minors: Math.max(0, (newest[1] ?? 0) - (oldest[1] ?? 0)) }
}
