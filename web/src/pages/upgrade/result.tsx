import {
  DescriptionList, DescriptionListDescription as Description, DescriptionListGroup as Group, DescriptionListTerm as Term, Label,
} from '@patternfly/react-core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Operation } from '../../api/documents.ts'
import { moment } from '../../format/moment.ts'
import { stopwatch } from '../../format/stopwatch.ts'
import { Incomplete } from './incomplete.tsx'

/** How an upgrade ended: its duration, the versions, and what it did not complete. */
export function Result({ operation }: { operation: Operation }) {
  const { t } = useTranslation()
  const { startTime, completionTime, nodes, from, to, componentsOnly, components } = operation
  const rest = nodes.total - nodes.done - nodes.failed - nodes.skipped
  const componentsLeft = components ? components.total - components.done : 0
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
          <>
            <Fact name={t('completion.versions')}>{from ? `${from} → ${to}` : to}</Fact>
            <Fact name={t('completion.nodes')}>
              {t('upgrade.progress', { done: nodes.done, nodes: t('node', { count: nodes.total }) })}
              {nodes.failed > 0 && <> <Label status="danger" isCompact>{t('completion.failed', { count: nodes.failed })}</Label></>}
              {nodes.skipped > 0 && <> <Label status="warning" isCompact>{t('upgrade.skipped', { count: nodes.skipped })}</Label></>}
              {rest > 0 && <> <Label color="grey" isCompact>{t('completion.notUpgraded', { count: rest })}</Label></>}
            </Fact>
          </>
        )}
        {components && (
          <Fact name={t('completion.components')}>
            {t('of', components)}
            {componentsLeft > 0 && <> <Label status="warning" isCompact>{t('completion.notChanged', { count: componentsLeft })}</Label></>}
          </Fact>
        )}
      </DescriptionList>
      {(nodes.failed > 0 || nodes.skipped > 0) && <Incomplete operation={operation.name} />}
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <Group><Term>{name}</Term><Description>{children}</Description></Group>
}
