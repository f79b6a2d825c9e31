import { useTranslation } from 'react-i18next'
import en from '../i18n/en.json'

type Known = keyof typeof en.phase

/** Returns what puts a phase into words. A phase of a newer Refit is shown by its name. */
export function usePhase() {
  const { t } = useTranslation()
  return (phase: string) => phase in en.phase ? t(`phase.${phase as Known}`) : phase
}
