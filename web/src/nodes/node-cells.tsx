import { Label } from '@patternfly/react-core'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { NodeRow } from '../api/documents.ts'
import { useActivity } from '../components/activity.ts'
import { Elapsed } from '../components/elapsed.tsx'
import { Cell, TableRow } from '../components/table.tsx'
import { NodeState } from './node-state.tsx'

/** A row of the table of nodes. */
export function NodeCells({ row, asOf }: { row: NodeRow; asOf: number }) {
  const { t } = useTranslation()
  const activity = useActivity()(row)
  const upgraded = isUpgraded(row)
  return (
    <TableRow>
      <Cell label={t('nodes.column.node')} wrap="anywhere">
        <Link to={`/nodes/${encodeURIComponent(row.node)}`}>{row.node}</Link>
        {row.controlPlane && <> <span className="refit-muted">{t('nodes.controlPlane')}</span></>}
      </Cell>
      <Cell label={t('nodes.column.state')}>
        <div className="refit-labels">
          {upgraded ? <Label status="success" isCompact>{t('nodes.upgraded')}</Label> : <NodeState state={row.state} compact />}
          {row.rolledBack && <Label status="warning" isCompact>{t('nodes.rolledBack')}</Label>}
        </div>
      </Cell>
      <Cell label={t('nodes.column.activity')} wrap="anywhere" className="refit-optional">
        {activity && <>{activity} {row.since && <Elapsed since={row.since} asOf={asOf} />}</>}
        {!activity && !upgraded && <span className="refit-muted">{row.message}</span>}
        {row.blockers ? <> <Label status="warning" isCompact>{t('activity.blocked', { count: row.blockers })}</Label></> : null}
      </Cell>
      <Cell label={t('nodes.column.version')}>
        <span className="refit-nowrap">
          {row.from && row.from !== row.kubelet && <span className="refit-muted">{row.from} → </span>}
          {row.kubelet ?? t('unknown')}
        </span>
        {!row.ready && <> <Label status="danger" isCompact>{t('nodes.notReady')}</Label></>}
        {row.cordon === 'Refit' && <> <span className="refit-muted">{t('nodes.cordonRefit')}</span></>}
        {row.cordon === 'Other' && <> <Label status="warning" isCompact>{t('nodes.cordonOther')}</Label></>}
      </Cell>
      <Cell label={t('nodes.column.agent')}>
        {row.agent ?? <Label status="warning" isCompact>{t('nodes.noAgent')}</Label>}
      </Cell>
    </TableRow>
  )
}

/** Whether an upgrade that has ended has changed the node: it is idle, and its version before is known. */
function isUpgraded({ state, from, kubelet, rolledBack = false }: NodeRow): boolean {
  return state === 'Idle' && from !== undefined && from !== kubelet && !rolledBack
}
