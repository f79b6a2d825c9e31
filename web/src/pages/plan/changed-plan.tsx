import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Plan } from '../../api/documents.ts'
import { duration } from '../../format/duration.ts'
import { differences } from './plan-facts.ts'

/** The plan changed since it was reviewed: nothing has started, and the new one is to be reviewed. */
export function ChangedPlan({ before, after }: { before: Plan; after: Plan }) {
  const { t } = useTranslation()
  const { added, removed, seconds } = differences(before, after)
  return (
    <Alert isInline variant="warning" title={t('changed.title')} component="h2" role="alert">
      <p>{t('changed.help')}</p>
      <ul>
        {added.length > 0 && <li>{t('changed.added', { nodes: added.join(', ') })}</li>}
        {removed.length > 0 && <li>{t('changed.removed', { nodes: removed.join(', ') })}</li>}
        {before.to !== after.to && <li>{t('changed.target', { before: before.to, after: after.to })}</li>}
        {Math.abs(seconds) >= 30 && <li>{t(seconds > 0 ? 'changed.longer' : 'changed.shorter', { time: duration(Math.abs(seconds) * 1000) })}</li>}
      </ul>
    </Alert>
  )
}
