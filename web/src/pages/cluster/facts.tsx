import {
  DescriptionList, DescriptionListDescription as Description, DescriptionListGroup as Group, DescriptionListTerm as Term, Label,
} from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { State } from '../../api/documents.ts'

/** The nodes, the agents and the controllers of the cluster. */
export function Facts({ state }: { state: State }) {
  const { t } = useTranslation()
  const { total, controlPlane, ready, agents } = state.nodes
  const active = state.operation !== undefined && !state.operation.ended
  return (
    <DescriptionList isCompact isHorizontal>
      <Group><Term>{t('cluster.controlPlane')}</Term><Description>{t('node', { count: controlPlane })}</Description></Group>
      <Group><Term>{t('cluster.workers')}</Term><Description>{t('node', { count: total - controlPlane })}</Description></Group>
      <Group>
        <Term>{t('cluster.ready')}</Term>
        <Description>
          {t('of', { done: ready, total })}
          {ready < total && <> <Label status="warning" isCompact>{t('nodes.notReady')}</Label></>}
        </Description>
      </Group>
      <Group>
        <Term>{t('cluster.agents')}</Term>
        <Description>
          {t('of', { done: agents, total })}
          {agents < total && <> <Label status="warning" isCompact>{t('cluster.agentsMissing', { count: total - agents })}</Label></>}
        </Description>
      </Group>
      <Group>
        <Term>{t('cluster.controllers')}</Term>
        <Description className="refit-break">
          {state.leader
            ? t('cluster.leader', { leader: state.leader })
            : active ? <Label status="danger">{t('cluster.noLeader')}</Label> : t('none')}
        </Description>
      </Group>
    </DescriptionList>
  )
}
