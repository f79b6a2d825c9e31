import type { State } from '../../api/documents.ts'

type Versions = State['nodes']['versions']

/** The versions of the kubelets, the newest first, and the number of minor versions between the ends. */
export function skewOf(versions: Versions): { sorted: Versions; minors: number } {
  const sorted = versions.toSorted((a, b) => compare(b.kubelet, a.kubelet))
  const known = sorted.filter(({ kubelet }) => parts(kubelet).length > 0)
  const newest = parts(known[0]?.kubelet ?? '')
  const oldest = parts(known.at(-1)?.kubelet ?? '')
  return { sorted, minors: Math.max(0, (newest[1] ?? 0) - (oldest[1] ?? 0)) }
}

function compare(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)]
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? -1) - (right[i] ?? -1)
    if (difference !== 0) return difference
  }
  return a.localeCompare(b)
}

function parts(version: string): number[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)
  return match ? match.slice(1).map(Number) : []
}
