import { Alert } from '@patternfly/react-core'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import type { Check, Report } from '../../api/documents.ts'
import { announce } from '../../components/announcer.tsx'
import { age } from '../../format/duration.ts'
import { useNow } from '../../live/clock.ts'

/** Whether the upgrade can start, in a sentence, and what the check covered. */
export function Verdict({ check, report }: { check: Check; report: Report }) {
  const { t } = useTranslation()
  const now = useNow()
  const { block, deferred, warn, info, waived, unknown, checks, unanswered } = report.counts
  const unread = report.findings.filter(({ blocks, unknown: one }) => blocks && one).length
  const counts = [
    warn > 0 ? t('preflight.count.warn', { count: warn }) : '',
    info > 0 ? t('preflight.count.info', { count: info }) : '',
    waived > 0 ? t('preflight.count.waived', { count: waived }) : '',
    unknown > 0 ? t('preflight.count.unknown', { count: unknown }) : '',
  ].filter(Boolean)
  const [variant, title] = check.upToDate ? ['info', t('preflight.upToDate')] as const
    : report.blocked ? ['danger', t('preflight.blocked', { count: block })] as const
      : deferred > 0 ? ['warning', t('preflight.deferred')] as const
        : ['success', t('preflight.passed')] as const
  useEffect(() => announce(title), [check.id, title])
  return (
    <Alert isInline variant={variant} title={title} component="h2">
      {report.blocked && unread > 0 && <p>{t('preflight.blockedUnread', { count: unread })}</p>}
      {counts.length > 0 && <p>{t('preflight.also', { counts: counts.join(', ') })}</p>}
      <p className="refit-muted">
        {t('preflight.checks', { count: checks })}
        {unanswered > 0 && ` ${t('preflight.unanswered', { count: unanswered })}`}{' '}
        {check.completionTime && t('preflight.checked', { age: age(now - Date.parse(check.completionTime)) })}
      </p>
    </Alert>
  )
}
