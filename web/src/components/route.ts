import { useTranslation } from 'react-i18next'
import type { Operation } from '../api/documents.ts'

/** Returns what states which part of a cluster an operation upgrades, from which version to which. */
export function useRoute() {
  const { t } = useTranslation()
  return ({ cluster, scope, componentsOnly, from, to }: Operation) => {
    if (componentsOnly) return t('route.components', { cluster, to })
    const part = scope === 'ControlPlane' || scope === 'Workers' ? t(`route.${scope}`, { cluster }) : t('route.All', { cluster })
    return from ? t('route.fromTo', { part, from, to }) : t('route.to', { part, to })
  }
}
