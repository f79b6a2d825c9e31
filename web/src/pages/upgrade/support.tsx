import { useTranslation } from 'react-i18next'
import { CommandLine } from '../../components/command-line.tsx'

/** How to report a problem with an upgrade. */
export function Support() {
  const { t } = useTranslation()
  return <p>{t('completion.support')} <CommandLine command="refit support-bundle" /></p>
}
