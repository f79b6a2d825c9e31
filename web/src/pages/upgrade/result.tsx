import {
  DescriptionList, DescriptionListDescription as Description, DescriptionListGroup as Group, DescriptionListTerm as Term, Label,
} from '@patternfly/react-core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { Operation } from '../../api/documents.ts'
import { useNodes } from '../../data/queries.ts'
import { moment } from '../../format/moment.ts'
import { stopwatch } from '../../format/stopwatch.ts'

/** How an upgrade ended: its duration, and the nodes that it did not complete. */
export function Result({ operation }: { operation: Operation }) {
  const { t } = useTranslation()
  const { startTime, completionTime, nodes, componentsOnly, components } = operation
  return (
    <div className="refit-stack">
      <DescriptionList isCompact isHorizontal className="refit-break">
        <Fact name={t('completion.started')}>{moment(startTime)}</Fact>
        {completionTime && (
          <>
            <Fact name={t('completion.ended')}>{moment(completionTime)}</Fact>
            <Fact name={t('completion.duration')}>{stopwatch(Date.parse(completionTime) - Date.parse(startTime))}</Fact>
          </>
        )}
        {!componentsOnly && (
          <Fact name={t('completion.nodes')}>
            {t('upgrade.progress', { done: nodes.done, nodes: t('node', { count: nodes.total }) })}
            {nodes.failed > 0 && <> <Label status="danger" isCompact>{t('completion.failed', { count: nodes.failed })}</Label></>}
            {nodes.skipped > 0 && <> <Label status="warning" isCompact>{t('upgrade.skipped', { count: nodes.skipped })}</Label></>}
          </Fact>
        )}
        {components && <Fact name={t('completion.components')}>{t('of', components)}</Fact>}
      </DescriptionList>
      {(nodes.failed > 0 || nodes.skipped > 0) && <Incomplete operation={operation.name} />}
    </div>
  )
}

const states = ['Failed', 'Skipped']
const shownNodes = 10

/** The failed and skipped nodes, each with its reason. */
function Incomplete({ operation }: { operation: string }) {
  const { t } = useTranslation()
  const found = useNodes(operation, { states, text: '', after: '' }).data
  if (!found || found.nodes.length === 0) return null
  return (
    <div>
      <h3 className="refit-subtitle">{t('completion.incomplete')}</h3>
      <ul className="refit-waiting">
        {found.nodes.slice(0, shownNodes).map(({ node, state, message }) => (
          <li key={node}>
            <Label isCompact status={state === 'Failed' ? 'danger' : 'warning'}>{t(`nodes.state.${state as 'Failed'}`)}</Label>{' '}
            <Link to={`/nodes/${encodeURIComponent(node)}`}>{node}</Link> <span>{message}</span>
          </li>
        ))}
      </ul>
      {found.total > shownNodes && <Link to="?state=Failed&state=Skipped#nodes">{t('completion.showIncomplete', { nodes: t('node', { count: found.total }) })}</Link>}
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <Group><Term>{name}</Term><Description>{children}</Description></Group>
}
