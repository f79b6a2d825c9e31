import { useTranslation } from 'react-i18next'
import type { Blocker } from '../api/documents.ts'

/** The pods that block a drain, each with its reason; some of them, if they are many. */
export function Blockers({ blockers, most }: { blockers: Blocker[]; most: number }) {
  const { t } = useTranslation()
  const more = blockers.length - most
  return (
    <ul className="refit-blockers">
      {blockers.slice(0, most).map((blocker, i) => (
        <li key={i}><b>{blocker.pod}</b> <span>{blocker.reason}</span></li>
      ))}
      {more > 0 && <li className="refit-muted">{t('activity.moreBlockers', { count: more })}</li>}
    </ul>
  )
}
