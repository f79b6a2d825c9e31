// The versions of the site. Without tags, the checkout is the whole site. With tags, the newest
// patch release of each minor version is at /vX.Y/ and the checkout at /dev/.
export const development = 'development'

const release = /^v(\d+)\.(\d+)\.(\d+)$/

// versionsOf returns what to build, in the order of the selector. ref is empty for the checkout.
export function versionsOf(tags, base = '/') {
  const newest = new Map()
  for (const tag of tags) {
    const match = tag.match(release)
    if (!match) continue // a pre-release has no documentation of its own
    const [major, minor, patch] = match.slice(1).map(Number)
    const key = `v${major}.${minor}`
    if (!newest.has(key) || newest.get(key).patch < patch) newest.set(key, { tag, major, minor, patch })
  }
  if (newest.size === 0) return [{ label: development, ref: '', base }]
  const sorted = [...newest.entries()].sort(([, a], [, b]) => b.major - a.major || b.minor - a.minor)
  return [
    ...sorted.map(([label, { tag }]) => ({ label, ref: tag, base: `${base}${label}/` })),
    { label: development, ref: '', base: `${base}dev/` },
  ]
}
