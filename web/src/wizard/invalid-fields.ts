import type { TFunction } from 'i18next'
import { defaultPool, isWhole, labelsOf, type Draft } from './draft.ts'
import type { FieldErrors } from './field-errors.ts'

/** What cannot even be sent to the server, which decides about everything else. */
export function invalidFields(draft: Draft, t: TFunction): FieldErrors {
  const found = new Map<string, string>()
  draft.pools.forEach((pool, i) => {
    if (pool.canary && !isWhole(pool.canaryNodes)) found.set(`/pools/${i}/canary/nodes`, t('configuration.notWhole'))
    if (pool.name === defaultPool) return
    if (Object.keys(labelsOf(pool.labels)).length === 0) found.set(`/pools/${i}/nodeSelector`, t('configuration.noLabels'))
  })
  return found
}
