import { Alert } from '@patternfly/react-core'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { NodeFailure, Operation } from '../api/documents.ts'
import en from '../i18n/en.json'
import { CommandLine } from './command-line.tsx'
import { Remedy } from './remedy.tsx'

const shownFailures = 5

/** The failed nodes and components, each with its cause and its remedy. */
export function Failures({ operation, allLink }: { operation: Operation; allLink: string }) {
  const { t } = useTranslation()
  const { failures, nodes } = operation
  if (failures.length === 0) return null
  const shown = failures.slice(0, shownFailures)
  const more = Math.max(nodes.failed, failures.length) - shown.length
  return (
    <section aria-label={t('upgrade.failedTitle')} className="refit-stack">
      {shown.map((failure, i) => <Failure key={failure.node ?? failure.component ?? i} failure={failure} />)}
      {more > 0 && <p>{t('upgrade.moreFailed', { count: more })}. <Link to={allLink}>{t('upgrade.showFailed')}</Link></p>}
    </section>
  )
}

function Failure({ failure }: { failure: NodeFailure }) {
  const { t } = useTranslation()
  const name = failure.node ?? failure.component ?? t('unknown')
  const title = failure.step ? t('upgrade.failedAt', { name, step: failure.step }) : t('upgrade.failed', { name })
  return (
    <Alert isInline variant="danger" title={title} component="h2">
      {failure.message && <p>{failure.message}</p>}
      <Remedy remedy={failure.remedy} />
      {failure.class in en.upgrade.class && <p className="refit-muted">{t(`upgrade.class.${failure.class as 'Transient'}`)}</p>}
      <div className="refit-row">
        {failure.node && <Link to={`/nodes/${encodeURIComponent(failure.node)}`}>{t('upgrade.explain', { node: failure.node })}</Link>}
        <CommandLine command={failure.node ? `refit explain ${failure.node}` : `refit components explain ${name}`} />
      </div>
    </Alert>
  )
}
