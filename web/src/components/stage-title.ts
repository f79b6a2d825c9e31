import { useTranslation } from 'react-i18next'
import en from '../i18n/en.json'

/** Returns what names a stage. One of a newer Refit is shown by its name. */
export function useStageTitle() {
  const { t } = useTranslation()
  return ({ name, kubernetes = '' }: { name: string; kubernetes?: string }) => name in en.stage
    ? t(`stage.${name as keyof typeof en.stage}`, { version: kubernetes }).trim()
    : [name, kubernetes].filter(Boolean).join(' ')
}
