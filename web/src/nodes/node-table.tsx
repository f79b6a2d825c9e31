import { Button } from '@patternfly/react-core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { NodePage, NodeRow } from '../api/documents.ts'
import { ProblemState } from '../components/problem-state.tsx'
import { Column, Columns, Table, TableRows } from '../components/table.tsx'
import { useNodes } from '../data/queries.ts'
import { useFreshness } from '../live/freshness.ts'
import { NodeCells } from './node-cells.tsx'
import { NodeFilterBar } from './node-filter-bar.tsx'
import { useNodeFilter } from './filter.ts'

/** The nodes of the cluster and their state in an operation, page by page. Without a name, there may be none yet. */
export function NodeTable({ operation }: { operation: string }) {
  const { t } = useTranslation()
  const { filter, setFilter, setPage } = useNodeFilter()
  const nodes = useNodes(operation, filter)
  const filtered = filter.states.length > 0 || filter.text !== ''
  return (
    <>
      <NodeFilterBar filter={filter} setFilter={setFilter} />
      {nodes.error && !nodes.data && <ProblemState error={nodes.error} retry={() => void nodes.refetch()} />}
      {nodes.data && (
        <>
          <p role="status" className="refit-muted">
            {t(filtered ? 'nodes.foundFiltered' : 'nodes.found', { count: nodes.data.total })}
            {nodes.isPlaceholderData && ` · ${t('nodes.updating')}`}
          </p>
          <Rows operation={operation} page={nodes.data} />
          <Pages key={`${filter.states.join()} ${filter.text}`} after={filter.after} next={nodes.data.continue} setPage={setPage} />
        </>
      )}
      {nodes.isPending && <p role="status">{t('loading')}</p>}
    </>
  )
}

function Rows({ operation, page }: { operation: string; page: NodePage }) {
  const { t } = useTranslation()
  const { asOf } = useFreshness(page)
  if (page.nodes.length === 0) return <p>{t('nodes.noneFound')}</p>
  return (
    <Table stackBelow="md" label={operation ? t('nodes.caption', { operation }) : t('upgrade.nodes')}>
      <Columns>
        <Column>{t('nodes.column.node')}</Column>
        <Column>{t('nodes.column.state')}</Column>
        <Column>{t('nodes.column.activity')}</Column>
        <Column>{t('nodes.column.version')}</Column>
        <Column>{t('nodes.column.agent')}</Column>
      </Columns>
      <TableRows>{page.nodes.map((row: NodeRow) => <NodeCells key={row.node} row={row} asOf={asOf} />)}</TableRows>
    </Table>
  )
}

interface PagesProps {
  after: string
  next: string | undefined
  setPage: (after: string) => void
}

/** The API has tokens for the next page only. The tokens of the previous pages are kept here. */
function Pages({ after, next, setPage }: PagesProps) {
  const { t } = useTranslation()
  const [trail, setTrail] = useState<string[]>([])
  if (after === '' && !next) return null
  const previous = trail.at(-1)
  return (
    <nav className="refit-row refit-pages" aria-label={t('nodes.pages')}>
      {after !== '' && previous === undefined && <Button variant="secondary" size="sm" onClick={() => setPage('')}>{t('nodes.first')}</Button>}
      {previous !== undefined && (
        <Button variant="secondary" size="sm" onClick={() => {
          setTrail(trail.slice(0, -1))
          setPage(previous)
        }}>{t('nodes.previous')}</Button>
      )}
      {next && (
        <Button variant="secondary" size="sm" onClick={() => {
          setTrail([...trail, after])
          setPage(next)
        }}>{t('nodes.next')}</Button>
      )}
    </nav>
  )
}

