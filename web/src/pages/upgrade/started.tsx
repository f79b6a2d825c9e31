import { Alert } from '@patternfly/react-core'
import { useLocation } from 'react-router'
import { useTranslation } from 'react-i18next'

interface Start {
  notes: string[]
  waitsFor: string[]
}

/** What the user should know about an upgrade that was just started here. */
export function Started() {
  const { t } = useTranslation()
  const started = (useLocation().state as { started?: Start } | null)?.started
  if (!started) return null
  const { notes, waitsFor } = started
  return (
    <Alert isInline variant="success" title={t('started.title')} component="h2" role="status">
      {waitsFor.length > 0 && <p>{t('started.waits', { names: waitsFor.join(', ') })}</p>}
      {notes.map((note) => <p key={note}>{note}</p>)}
      <p>{t('started.close')}</p>
    </Alert>
  )
}
