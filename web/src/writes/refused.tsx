import { useTranslation } from 'react-i18next'
import type { Refusal } from './refusal.ts'

/** Why a control does nothing now. */
export function Refused({ refusal }: { refusal: Refusal }) {
  const { t } = useTranslation()
  if (refusal.reason === 'permission' && refusal.missing) return t('actions.disabled.missing', { permission: refusal.missing })
  return t(`actions.disabled.${refusal.reason}`)
}
