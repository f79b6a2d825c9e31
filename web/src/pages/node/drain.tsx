import { Label } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Explanation } from '../../api/documents.ts'
import { Blockers } from '../../components/blockers.tsx'
import { stopwatch } from '../../format/stopwatch.ts'

const shownBlockers = 50

/** The drain before the upgrade, and the pods that block it. */
export function Drain({ drain, asOf }: { drain: NonNullable<Explanation['drain']>; asOf: number }) {
  const { t } = useTranslation()
  const { phase, remaining, startTime, completionTime, blockers = [] } = drain
  const word = phase.toLowerCase()
  const lasted = !startTime ? ''
    : completionTime ? t('nodePage.took', { time: stopwatch(Date.parse(completionTime) - Date.parse(startTime)) })
      : t('nodePage.lasted', { time: stopwatch(asOf - Date.parse(startTime)) })
  return (
    <>
      <p>{[remaining ? t('nodePage.drainLeft', { phase: word, pods: t('pod', { count: remaining }) }) : word, lasted].filter(Boolean).join(', ')}</p>
      {blockers.length > 0 && (
        <>
          <p><Label status="warning">{t('activity.blocked', { count: blockers.length })}</Label></p>
          <Blockers blockers={blockers} most={shownBlockers} />
        </>
      )}
    </>
  )
}
