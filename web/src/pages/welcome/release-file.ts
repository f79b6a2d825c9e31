/** The largest file that the server accepts. */
export const largestFile = 1 << 20

/** The name of the ClusterRelease in a manifest, or nothing for an envelope alone. */
export function nameIn(content: string): string {
  const yaml = /^metadata:\s*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*["']?([a-z0-9][-a-z0-9.]*)/m.exec(content)
  if (yaml?.[1]) return yaml[1]
  const json = /"metadata"\s*:\s*\{[^}]*"name"\s*:\s*"([a-z0-9][-a-z0-9.]*)"/.exec(content)
  return json?.[1] ?? ''
}
