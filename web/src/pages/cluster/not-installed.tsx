import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import { CommandLine } from '../../components/command-line.tsx'

/** The cluster has no CRDs of Refit: it cannot be upgraded before Refit is installed. */
export function NotInstalled({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  return (
    <Alert isInline variant="info" title={t('cluster.notInstalled', { cluster })} component="h2">
      <p>{t('cluster.install')} <CommandLine command="refit install" /></p>
      <p>{t('cluster.installHelp')}</p>
    </Alert>
  )
}
