import { Button } from '@patternfly/react-core'
import { useState } from 'react'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { OperationList, PastOperation } from '../../api/documents.ts'
import { PhaseLabel } from '../../components/phase-label.tsx'
import { Cell, Column, Columns, Table, TableRow, TableRows } from '../../components/table.tsx'
import { minuteOf } from '../../format/moment.ts'
import { stopwatch } from '../../format/stopwatch.ts'
import { useFreshness } from '../../live/freshness.ts'

const shownOperations = 10

/** All operations, the newest first; the first ones until the user wants all. */
export function HistoryTable({ operations: list }: { operations: OperationList }) {
  const { t } = useTranslation()
  const [all, setAll] = useState(false)
  const { asOf } = useFreshness(list)
  const { operations } = list
  if (operations.length === 0) return <p>{t('cluster.noHistory')}</p>
  return (
    <>
      <Table stackBelow="lg" label={t('cluster.history')}>
        <Columns>
          <Column>{t('cluster.column.operation')}</Column>
          <Column>{t('cluster.column.phase')}</Column>
          <Column>{t('cluster.column.started')}</Column>
          <Column>{t('cluster.column.duration')}</Column>
          <Column>{t('cluster.column.nodes')}</Column>
        </Columns>
        <TableRows>
          {(all ? operations : operations.slice(0, shownOperations)).map((past) => <Row key={past.name} past={past} asOf={asOf} />)}
        </TableRows>
      </Table>
      {!all && operations.length > shownOperations && (
        <Button variant="link" isInline onClick={() => setAll(true)}>{t('cluster.allOperations')}</Button>
      )}
    </>
  )
}

function Row({ past, asOf }: { past: PastOperation; asOf: number }) {
  const { t } = useTranslation()
  const remarks = useRemarks()(past)
  const end = past.ended && past.completionTime ? Date.parse(past.completionTime) : asOf
  return (
    <TableRow>
      <Cell label={t('cluster.column.operation')} wrap="anywhere">
        <Link to={`/operations/${encodeURIComponent(past.name)}`}>{past.name}</Link>
        <div className="refit-muted">{[past.from, past.to].filter(Boolean).join(' → ')}</div>
        {remarks && <div>{remarks}</div>}
      </Cell>
      <Cell label={t('cluster.column.phase')}><PhaseLabel phase={past.phase} compact /></Cell>
      <Cell label={t('cluster.column.started')}>{minuteOf(past.startTime)}</Cell>
      <Cell label={t('cluster.column.duration')}>{stopwatch(end - Date.parse(past.startTime))}</Cell>
      <Cell label={t('cluster.column.nodes')}>
        {past.componentsOnly ? t('none') : t('of', { done: past.nodes.done, total: past.nodes.total })}
      </Cell>
    </TableRow>
  )
}

function useRemarks() {
  const { t } = useTranslation()
  return (past: PastOperation) => [
    past.componentsOnly ? t('cluster.remark.components') : '',
    past.scope === 'ControlPlane' || past.scope === 'Workers' ? t(`cluster.remark.${past.scope}`) : '',
    past.failed?.length ? t('cluster.remark.failed', { names: fold(past.failed) }) : '',
    past.nodes.skipped > 0 ? t('cluster.remark.skipped', { count: past.nodes.skipped }) : '',
  ].filter(Boolean).join('; ')
}

const fewNames = 6

/** Joins names; of many, the first three and the last. */
function fold(names: string[]): string {
  if (names.length <= fewNames) return names.join(', ')
  return `${names.slice(0, 3).join(', ')}, … ${names.at(-1) ?? ''}`
}
