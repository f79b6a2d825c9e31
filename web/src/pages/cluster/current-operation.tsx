import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { State } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { Failures } from '../../components/failures.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { PhaseLabel } from '../../components/phase-label.tsx'
import { useRoute } from '../../components/route.ts'
import { Stages } from '../../components/stages.tsx'
import { useFreshness } from '../../live/freshness.ts'
import { stepPath } from '../../wizard/steps.ts'
import { Now } from '../upgrade/now.tsx'
import { Times } from '../upgrade/times.tsx'

/** The operation in progress in short, or the command that checks what an upgrade needs. */
export function CurrentOperation({ state }: { state: State }) {
  const { t } = useTranslation()
  const route = useRoute()
  const { asOf } = useFreshness(state)
  const { operation } = state
  if (state.notInstalled) return <p>{t('cluster.noOperation')}</p>
  if (!operation) {
    return (
      <div className="refit-stack">
        <p>{t('cluster.noOperation')}</p>
        <div><LinkButton to={stepPath('welcome')} variant="primary">{t('wizard.name')}</LinkButton></div>
        <p className="refit-muted">{t('cluster.start')} <CommandLine command="refit check" /></p>
      </div>
    )
  }
  const page = `/operations/${encodeURIComponent(operation.name)}`
  return (
    <div className="refit-stack">
      <div className="refit-row">
        <Link to={page} className="refit-operation-link">{route(operation)}</Link>
        <PhaseLabel phase={operation.phase} />
      </div>
      <Times answer={{ ...state, operation }} asOf={asOf} />
      <Failures operation={operation} allLink={`${page}?state=Failed#nodes`} />
      <Now answer={{ ...state, operation }} asOf={asOf} />
      {!operation.ended && operation.stages.length > 0 && <Stages stages={operation.stages} />}
      {operation.phase === 'AwaitingApproval' && <div><LinkButton to={page} variant="primary">{t('cluster.approve')}</LinkButton></div>}
      {operation.ended && <div><LinkButton to={stepPath('welcome')} variant="primary">{t('wizard.name')}</LinkButton></div>}
    </div>
  )
}
