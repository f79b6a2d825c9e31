import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Plan } from '../../api/documents.ts'
import { ChangesOfPlan } from '../../approval/changes-of-plan.tsx'
import { outlineOf } from '../../approval/outline.ts'

/** The plan changed since it was reviewed: nothing has started, and the new one is to be reviewed. */
export function ChangedPlan({ before, after }: { before: Plan; after: Plan }) {
  const { t } = useTranslation()
  return (
    <Alert isInline variant="warning" title={t('changed.title')} component="h2" role="alert">
      <p>{t('changed.help')}</p>
      <ChangesOfPlan before={outlineOf(before)} after={outlineOf(after)} />
    </Alert>
  )
}
