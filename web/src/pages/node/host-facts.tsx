import {
  DescriptionList, DescriptionListDescription as Description, DescriptionListGroup as Group, DescriptionListTerm as Term, Label,
} from '@patternfly/react-core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { Explanation } from '../../api/documents.ts'
import { useActivity } from '../../components/activity.ts'
import { usePhase } from '../../components/phase.ts'
import { duration } from '../../format/duration.ts'

/** The state of the host, its agent, and what the upgrade does with it. */
export function HostFacts({ explanation, asOf }: { explanation: Explanation; asOf: number }) {
  const { t } = useTranslation()
  const phase = usePhase()
  const activity = useActivity()
  const { host, operation, order, progress } = explanation
  const ready = host.ready ? t('nodes.ready') : t('nodes.notReady')
  const since = (time: string) => duration(asOf - Date.parse(time))
  return (
    <DescriptionList isCompact isHorizontal className="refit-break">
      {progress && <Fact name={t('nodePage.now')}>{activity(progress)}{progress.waits && <div>{t('nodePage.waits', { waits: progress.waits })}</div>}</Fact>}
      <Fact name={t('nodePage.role')}>{host.controlPlane ? t('nodes.controlPlane') : t('nodes.worker')}</Fact>
      <Fact name={t('nodePage.kubelet')}>{host.kubelet ?? t('unknown')}</Fact>
      <Fact name={t('nodePage.condition')}>
        {host.ready ? null : <Label status="danger" isCompact>{t('nodes.notReady')}</Label>}{' '}
        {host.readySince ? t('nodePage.readyFor', { ready, time: since(host.readySince) }) : ready}
        {host.readyMessage && <div>{host.readyMessage}</div>}
      </Fact>
      <Fact name={t('nodePage.cordon')}>
        {host.cordon === 'Refit' ? t('nodes.cordonRefit') : host.cordon === 'Other' ? t('nodes.cordonOther') : t('nodePage.notCordoned')}
      </Fact>
      <Fact name={t('nodePage.agent')}>
        {!host.agent ? t('none') : host.reportedAt ? t('nodePage.agentReport', { version: host.agent, time: since(host.reportedAt) }) : host.agent}
      </Fact>
      {operation && (
        <Fact name={t('nodePage.operation')}>
          <Link to={`/operations/${encodeURIComponent(operation.name)}`}>{operation.name}</Link>{' '}
          {t('nodePage.operationTo', { to: operation.to, phase: phase(operation.phase) })}
        </Fact>
      )}
      {order && (
        <Fact name={t('nodePage.order')}>
          {[`${order.permit} ${order.release}`, order.answered ? order.phase : t('nodePage.orderUnanswered'),
            order.attempt ? t('nodePage.attempt', { attempt: order.attempt }) : '',
            order.operation !== operation?.name ? t('nodePage.orderOther', { name: order.operation }) : ''].filter(Boolean).join(', ')}
        </Fact>
      )}
    </DescriptionList>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <Group><Term>{name}</Term><Description>{children}</Description></Group>
}
