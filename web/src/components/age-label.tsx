import { Label } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Observed } from '../api/documents.ts'
import { age } from '../format/duration.ts'
import { useNow } from '../live/clock.ts'
import { useFreshness } from '../live/freshness.ts'

/** Where data comes from and how old it is; nothing while the API server confirms it. */
export function AgeLabel({ of, quiet = false }: { of: Observed; quiet?: boolean }) {
  const { t } = useTranslation()
  const { source, observedAt, stale } = useFreshness(of)
  const now = useNow()
  const old = { age: age(now - observedAt) }
  const look = { isCompact: true, variant: quiet ? 'outline' : 'filled' } as const
  if (source === 'last-known') return <Label className="refit-age" status="warning" {...look}>{t('age.lastKnown', old)}</Label>
  if (stale) return <Label className="refit-age" status="warning" {...look}>{t('age.stale', old)}</Label>
  if (source === 'agent') return <Label className="refit-age" status="info" {...look}>{t('age.agent', old)}</Label>
  return null
}
