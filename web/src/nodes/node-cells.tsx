import { Label } from '@patternfly/react-core'
import { Td, Tr } from '@patternfly/react-table'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { NodeRow } from '../api/documents.ts'
import { useActivity } from '../components/activity.ts'
import { Elapsed } from '../components/elapsed.tsx'
import { NodeState } from './node-state.tsx'

/** A row of the table of nodes. */
export function NodeCells({ row, asOf }: { row: NodeRow; asOf: number }) {
  const { t } = useTranslation()
  const activity = useActivity()(row)
  return (
    <Tr>
      <Td dataLabel={t('nodes.column.node')} modifier="breakWord">
        <Link to={`/nodes/${encodeURIComponent(row.node)}`}>{row.node}</Link>
        {row.controlPlane && <> <span className="refit-muted">{t('nodes.controlPlane')}</span></>}
      </Td>
      <Td dataLabel={t('nodes.column.state')}>
        <NodeState state={row.state} compact />
        {row.rolledBack && <> <Label status="warning" isCompact>{t('nodes.rolledBack')}</Label></>}
      </Td>
      <Td dataLabel={t('nodes.column.activity')} modifier="breakWord">
        {activity ? <>{activity} {row.since && <Elapsed since={row.since} asOf={asOf} />}</> : <span className="refit-muted">{row.message}</span>}
        {row.blockers ? <> <Label status="warning" isCompact>{t('activity.blocked', { count: row.blockers })}</Label></> : null}
      </Td>
      <Td dataLabel={t('nodes.column.version')}>
        {row.from && row.from !== row.kubelet && <span className="refit-muted">{row.from} → </span>}
        {row.kubelet ?? t('unknown')}
        {!row.ready && <> <Label status="danger" isCompact>{t('nodes.notReady')}</Label></>}
        {row.cordon === 'Refit' && <> <span className="refit-muted">{t('nodes.cordonRefit')}</span></>}
        {row.cordon === 'Other' && <> <Label status="warning" isCompact>{t('nodes.cordonOther')}</Label></>}
      </Td>
      <Td dataLabel={t('nodes.column.agent')}>
        {row.agent ?? <Label status="warning" isCompact>{t('nodes.noAgent')}</Label>}
      </Td>
    </Tr>
  )
}
