import type { Finding } from '../../api/documents.ts'

/** The parts of a report, the most urgent first. What could not be observed is apart from what was. */
export const sections = ['blocking', 'unknown', 'prerequisite', 'warning', 'note', 'waived'] as const
export type Section = (typeof sections)[number]

export function sectionOf(finding: Finding): Section {
  if (finding.waived) return 'waived'
  if (finding.deferred) return 'prerequisite'
  if (finding.unknown) return 'unknown'
  if (finding.blocks) return 'blocking'
  return finding.severity === 'Info' ? 'note' : 'warning'
}

export function findingsBySection(findings: Finding[]): [Section, Finding[]][] {
  return sections
    .map((section): [Section, Finding[]] => [section, findings.filter((finding) => sectionOf(finding) === section)])
    .filter(([, found]) => found.length > 0)
}

/** Whether a user may accept a finding. Those that do not block need no waiver. */
export function canWaive({ blocks, binding }: Finding): boolean {
  return blocks === true && !binding
}
