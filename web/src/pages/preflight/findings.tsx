import { Button, Label, type LabelProps } from '@patternfly/react-core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Finding } from '../../api/documents.ts'
import { Remedy } from '../../components/remedy.tsx'
import { age } from '../../format/duration.ts'
import { useNow } from '../../live/clock.ts'
import { canWaive } from './sections.ts'

const shownFindings = 20
/** Facts that are this old are marked with their age. */
const oldReport = 5 * 60_000

const looks: Record<string, Pick<LabelProps, 'status' | 'color'>> = {
  Block: { status: 'danger' }, Warn: { status: 'warning' }, Info: { status: 'info' },
}

interface FindingsProps {
  findings: Finding[]
  /** Whether another check can be made now, which every waiver needs. */
  enabled: boolean
  waive: (finding: Finding) => void
  restore: (finding: Finding) => void
}

/** The findings of a section, each with its object, its cause, and its remedy to copy. */
export function Findings({ findings, enabled, waive, restore }: FindingsProps) {
  const { t } = useTranslation()
  const [all, setAll] = useState(false)
  const shown = all ? findings : findings.slice(0, shownFindings)
  return (
    <>
      <ul className="refit-findings">
        {shown.map((finding, i) => (
          <li key={`${finding.check} ${finding.object ?? ''} ${i}`}>
            <FindingText finding={finding} />
            {canWaive(finding) && (
              <div>
                <Button
                  variant="secondary" size="sm" isAriaDisabled={!enabled} onClick={() => { if (enabled) waive(finding) }}
                  aria-label={t('preflight.waiveLabel', { name: nameOf(finding) })}
                >
                  {t('preflight.waive')}
                </Button>
              </div>
            )}
            {finding.waived && (
              <p>
                <b>{t('preflight.waivedBecause')}</b> {finding.waived.reason}{' '}
                <Button
                  variant="link" isInline isAriaDisabled={!enabled} onClick={() => { if (enabled) restore(finding) }}
                  aria-label={t('preflight.restoreLabel', { name: nameOf(finding) })}
                >
                  {t('preflight.restore')}
                </Button>
              </p>
            )}
            {finding.more ? <p className="refit-muted">{t('preflight.more', { count: finding.more })}</p> : null}
          </li>
        ))}
      </ul>
      {shown.length < findings.length && (
        <Button variant="link" isInline onClick={() => setAll(true)}>{t('preflight.showAll', { count: findings.length })}</Button>
      )}
    </>
  )
}

export function nameOf({ check, object }: Finding): string {
  return object ? `${check}: ${object}` : check
}

/** A finding in words: for the reader the sentence, for a search the name of the check. */
export function FindingText({ finding }: { finding: Finding }) {
  const { t } = useTranslation()
  const now = useNow()
  const { severity, check, object, message, remedy, reportTime, binding, blocks } = finding
  const reported = reportTime ? now - Date.parse(reportTime) : 0
  return (
    <>
      <div className="refit-row">
        {finding.waived
          ? <Label isCompact color="grey">{t('preflight.waived')}</Label>
          : <Label isCompact {...(looks[severity] ?? { color: 'grey' })}>{t(`preflight.severity.${severity as 'Block'}`)}</Label>}
        <b>{object ?? t('preflight.cluster')}</b>
        <span className="refit-muted">{check}</span>
        {binding && blocks && <span className="refit-muted">{t('preflight.noWaiver')}</span>}
        {reported > oldReport && <span className="refit-muted">{t('preflight.reported', { age: age(reported) })}</span>}
      </div>
      <p>{message}</p>
      {!finding.waived && <Remedy remedy={remedy} />}
    </>
  )
}
