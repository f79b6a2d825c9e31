import {
  DescriptionList, DescriptionListDescription as Description, DescriptionListGroup as Group, DescriptionListTerm as Term, Label,
} from '@patternfly/react-core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Plan, Report } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { duration } from '../../format/duration.ts'
import { changedNodes, evictions, outageOf } from './plan-facts.ts'

/** What the upgrade changes, how long it takes, and when the API server is unreachable. */
export function Summary({ plan, report, withHash = true }: { plan: Plan; report: Report; withHash?: boolean }) {
  const { t } = useTranslation()
  const nodes = changedNodes(plan)
  const outage = outageOf(plan, report)
  const pods = evictions(plan)
  const etcd = plan.hops.flatMap(({ etcd: move }) => move ? [move] : [])
  return (
    <DescriptionList isCompact isHorizontal className="refit-break">
      <Fact name={t('plan.versions')}>{[plan.from, ...plan.hops.map(({ kubernetes }) => kubernetes)].join(' → ')}</Fact>
      <Fact name={t('plan.duration')}>
        {t('plan.about', { time: duration(plan.estimate.seconds * 1000) })}{' '}
        <span className="refit-muted">{plan.estimate.observed ? t('plan.observed') : t('plan.notObserved')}</span>
      </Fact>
      <Fact name={t('plan.api')}>
        {outage.kind === 'unreachable'
          ? <><Label status="warning" isCompact>{t('plan.apiUnreachable', { time: duration(outage.seconds * 1000) })}</Label> {t('plan.apiUnreachableHelp')}</>
          : outage.kind === 'none' ? t('plan.apiStays') : t('plan.apiUntouched')}
      </Fact>
      <Fact name={t('plan.nodes')}>
        {[nodes.controlPlane > 0 ? t('plan.controlPlaneNodes', { count: nodes.controlPlane }) : '', nodes.workers > 0 ? t('plan.workerNodes', { count: nodes.workers }) : '']
          .filter(Boolean).join(', ') || t('none')}
      </Fact>
      <Fact name={t('plan.evictions')}>{pods > 0 ? t('plan.evicted', { pods: t('pod', { count: pods }) }) : t('none')}</Fact>
      {etcd.length > 0 && (
        <Fact name={t('plan.etcd')}>{etcd.map(({ from, to, reason }) => from && to && from !== to ? `${from} → ${to}` : reason ?? from ?? '').join('; ')}</Fact>
      )}
      <Fact name={t('plan.releases')}>
        {plan.hops.map(({ kubernetes, release }) => release?.name ?? t('plan.noRelease', { version: kubernetes })).join(', ')}
      </Fact>
      {withHash && <Fact name={t('plan.hash')}><CommandLine command={plan.hash} /></Fact>}
    </DescriptionList>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return <Group><Term>{name}</Term><Description>{children}</Description></Group>
}
