import { useTranslation } from 'react-i18next'
import { Cell, Column, Columns, Table, TableRow, TableRows } from '../../components/table.tsx'
import type { State } from '../../api/documents.ts'
import { skewOf } from './skew.ts'

/** How many nodes run each version of the kubelet, the newest first, and how far they are apart. */
export function Versions({ nodes }: { nodes: State['nodes'] }) {
  const { t } = useTranslation()
  const { sorted, minors } = skewOf(nodes.versions)
  const newest = sorted[0]?.kubelet ?? ''
  const oldest = sorted.at(-1)?.kubelet ?? ''
  const skew = sorted.length < 2
    ? t('cluster.skewNone', { version: newest })
    : minors > 0 ? t('cluster.skewMinors', { count: minors, oldest, newest }) : t('cluster.skewPatch', { oldest, newest })
  return (
    <>
      <Table label={t('cluster.versions')}>
        <Columns><Column>{t('cluster.kubelet')}</Column><Column>{t('cluster.nodesCount')}</Column></Columns>
        <TableRows>
          {sorted.map(({ kubelet, nodes: count }) => (
            <TableRow key={kubelet}>
              <Cell>{kubelet || t('unknown')}</Cell>
              <Cell>
                <meter className="refit-share" min={0} max={Math.max(1, nodes.total)} value={count} aria-label={t('cluster.share')} />{' '}
                {t('of', { done: count, total: nodes.total })}
              </Cell>
            </TableRow>
          ))}
        </TableRows>
      </Table>
      {nodes.total > 0 && <p className="refit-skew">{skew}</p>}
    </>
  )
}
