import { Button, Label } from '@patternfly/react-core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Plan, PlanNode, PlanStage } from '../../api/documents.ts'
import { useStageTitle } from '../../components/stage-title.ts'
import { Cell, Column, Columns, Table, TableRow, TableRows } from '../../components/table.tsx'
import { duration } from '../../format/duration.ts'
import { hasContent, hasOrder } from './plan-facts.ts'

const shownNodes = 20

/** The stages in their order, each with its reason and the order of its nodes. */
export function PlanStages({ plan }: { plan: Plan }) {
  return (
    <ol className="refit-plan-stages">
      {plan.stages.filter(hasContent).map((stage, i) => <li key={`${stage.name} ${stage.hop} ${i}`}><Stage stage={stage} /></li>)}
    </ol>
  )
}

function Stage({ stage }: { stage: PlanStage }) {
  const { t } = useTranslation()
  const title = useStageTitle()(stage)
  const { nodes = [], components = [], reason, estimate } = stage
  return (
    <>
      <h3 className="refit-row">
        <b>{title}</b>
        <span className="refit-muted">
          {[t('plan.about', { time: duration(estimate.seconds * 1000) }), nodes.length > 0 ? t('node', { count: nodes.length }) : ''].filter(Boolean).join(' · ')}
        </span>
      </h3>
      {reason && <p>{reason}</p>}
      {components.length > 0 && (
        <ul>
          {components.map((component) => (
            <li key={component.name}>
              <b>{component.name}</b> {[component.from, component.to].filter(Boolean).join(' → ')}{' '}
              <span className="refit-muted">{component.action}{component.reason ? `: ${component.reason}` : ''}</span>
            </li>
          ))}
        </ul>
      )}
      {hasOrder(stage) && <Nodes nodes={nodes} title={title} />}
    </>
  )
}

function Nodes({ nodes, title }: { nodes: PlanNode[]; title: string }) {
  const { t } = useTranslation()
  const [all, setAll] = useState(false)
  const shown = all ? nodes : nodes.slice(0, shownNodes)
  return (
    <>
      <Table stackBelow="md" label={t('plan.nodesOf', { stage: title })}>
        <Columns>
          <Column>{t('nodes.column.node')}</Column>
          <Column>{t('plan.column.from')}</Column>
          <Column>{t('plan.column.drain')}</Column>
          <Column>{t('plan.column.time')}</Column>
          <Column>{t('plan.column.why')}</Column>
        </Columns>
        <TableRows>
          {shown.map((node) => (
            <TableRow key={node.name}>
              <Cell label={t('nodes.column.node')} wrap="anywhere">
                {node.name} {node.canary && <Label isCompact color="blue">{t('plan.canary')}</Label>}
              </Cell>
              <Cell label={t('plan.column.from')} wrap="never">{node.from ?? t('unknown')}</Cell>
              <Cell label={t('plan.column.drain')} wrap="never">
                {node.drain ? (node.moves ? t('plan.drained', { pods: t('pod', { count: node.moves }) }) : t('plan.drainedEmpty')) : t('plan.notDrained')}
              </Cell>
              <Cell label={t('plan.column.time')} wrap="never">{node.estimate ? duration(node.estimate.seconds * 1000) : ''}</Cell>
              <Cell label={t('plan.column.why')} wrap="anywhere" className="refit-optional"><Why node={node} /></Cell>
            </TableRow>
          ))}
        </TableRows>
      </Table>
      {shown.length < nodes.length && <Button variant="link" isInline onClick={() => setAll(true)}>{t('plan.showAll', { nodes: t('node', { count: nodes.length }) })}</Button>}
    </>
  )
}

/** Why a node has its place, and which nodes it is not upgraded together with. */
function Why({ node: { reason, apart = [], pool } }: { node: PlanNode }) {
  const { t } = useTranslation()
  return (
    <>
      {pool && pool !== 'default' && <div>{t('plan.pool', { name: pool })}</div>}
      {reason && <div>{reason}</div>}
      {apart.map(({ node, reason: why }) => <div key={node}>{t('plan.apart', { node, reason: why })}</div>)}
    </>
  )
}
