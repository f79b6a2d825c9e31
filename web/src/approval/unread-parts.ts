import type { Report } from '../api/documents.ts'

/** What the caller may not read, and the plan needs. The upgrade is planned with other credentials. */
export function unreadParts({ findings }: Report): string[] {
  return findings.filter(({ unknown, severity }) => unknown && severity === 'Block').map(({ object }) => object ?? '').filter(Boolean)
}
