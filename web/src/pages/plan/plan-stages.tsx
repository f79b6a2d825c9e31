import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import { Button, Label } from '@patternfly/react-core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Plan, PlanNode, PlanStage } from '../../api/documents.ts'
import { useStageTitle } from '../../components/stage-title.ts'
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
      <Table variant="compact" gridBreakPoint="grid-md" aria-label={t('plan.nodesOf', { stage: title })}>
        <Thead>
          <Tr>
            <Th>{t('nodes.column.node')}</Th>
            <Th>{t('plan.column.from')}</Th>
            <Th>{t('plan.column.drain')}</Th>
            <Th>{t('plan.column.time')}</Th>
            <Th>{t('plan.column.why')}</Th>
          </Tr>
        </Thead>
        <Tbody>
          {shown.map((node) => (
            <Tr key={node.name}>
              <Td dataLabel={t('nodes.column.node')} modifier="breakWord">
                {node.name} {node.canary && <Label isCompact color="blue">{t('plan.canary')}</Label>}
              </Td>
              <Td dataLabel={t('plan.column.from')}>{node.from ?? t('unknown')}</Td>
              <Td dataLabel={t('plan.column.drain')} modifier="nowrap">
                {node.drain ? (node.moves ? t('plan.drained', { pods: t('pod', { count: node.moves }) }) : t('plan.drainedEmpty')) : t('plan.notDrained')}
              </Td>
              <Td dataLabel={t('plan.column.time')}>{node.estimate ? duration(node.estimate.seconds * 1000) : ''}</Td>
              <Td dataLabel={t('plan.column.why')} modifier="breakWord" className="refit-optional"><Why node={node} /></Td>
            </Tr>
          ))}
        </Tbody>
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
