/** The numbers of a version such as v1.36.3, or none if it is not one. */
export function versionParts(version: string): number[] {
  const match = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)
  return match ? match.slice(1).map(Number) : []
}

/** Compares versions by number. What is not a version comes first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)]
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? -1) - (right[i] ?? -1)
    if (difference !== 0) return difference
  }
  return a.localeCompare(b)
}
