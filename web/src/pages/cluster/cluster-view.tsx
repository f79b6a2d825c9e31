import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { OperationList, State } from '../../api/documents.ts'
import { Heading } from '../../components/heading.tsx'
import { Panel } from '../../components/panel.tsx'
import { NodeTable } from '../../nodes/node-table.tsx'
import { CurrentOperation } from './current-operation.tsx'
import { Facts } from './facts.tsx'
import { HistoryTable } from './history-table.tsx'
import { NotInstalled } from './not-installed.tsx'
import { Releases } from './releases.tsx'
import { Versions } from './versions.tsx'

/** The cluster: the running operation, the versions of its nodes, and the history. */
export function ClusterView({ state, operations }: { state: State; operations: OperationList | undefined }) {
  const { t } = useTranslation()
  const running = state.operation !== undefined && !state.operation.ended
  return (
    <>
      <Heading title={t('cluster.title', { name: state.cluster })} />
      {state.notInstalled && <NotInstalled cluster={state.cluster} />}
      {state.unread.filter(({ part }) => !state.notInstalled || part === 'Nodes').map((unread) => (
        <Alert key={unread.part} isInline variant="warning" title={t('cluster.unread', { part: unread.part })} component="h2">{unread.message}</Alert>
      ))}
      <div className="refit-columns">
        <div className="refit-stack">
          <Panel id="current" title={running || !state.operation ? t('cluster.current') : t('cluster.last')} of={state}>
            <CurrentOperation state={state} />
          </Panel>
          {!state.notInstalled && (
            <Panel id="history" title={t('cluster.history')} of={operations}>
              {operations ? <HistoryTable operations={operations} /> : <p role="status">{t('loading')}</p>}
            </Panel>
          )}
        </div>
        <div className="refit-stack">
          <Panel id="versions" title={t('cluster.versions')} of={state}><Versions nodes={state.nodes} /></Panel>
          <Panel id="facts" title={t('nodePage.facts')} of={state}><Facts state={state} /></Panel>
          {!state.notInstalled && <Panel id="releases" title={t('cluster.releases')} of={state}><Releases state={state} /></Panel>}
        </div>
      </div>
      <Panel id="nodes" title={t('upgrade.nodes')} of={state}>
        <NodeTable operation={state.operation?.name ?? ''} />
      </Panel>
    </>
  )
}
