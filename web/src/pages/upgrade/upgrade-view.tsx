import { useTranslation } from 'react-i18next'
import type { OperationAnswer, State } from '../../api/documents.ts'
import { Approval } from '../../approval/approval.tsx'
import { ActiveNodes } from '../../components/active-nodes.tsx'
import { Failures } from '../../components/failures.tsx'
import { Heading } from '../../components/heading.tsx'
import { Panel } from '../../components/panel.tsx'
import { PhaseLabel } from '../../components/phase-label.tsx'
import { usePhase } from '../../components/phase.ts'
import { useRoute } from '../../components/route.ts'
import { Stages } from '../../components/stages.tsx'
import { Waiting } from '../../components/waiting.tsx'
import { useFreshness } from '../../live/freshness.ts'
import { NodeTable } from '../../nodes/node-table.tsx'
import { SupportBundle } from '../../support-bundle/support-bundle.tsx'
import { Actions } from '../../verbs/actions.tsx'
import { useWriteSituation } from '../../writes/use-write-situation.ts'
import { Audit } from './audit.tsx'
import { Now } from './now.tsx'
import { Result } from './result.tsx'
import { Started } from './started.tsx'
import { Times } from './times.tsx'
import { useAnnouncements } from './use-announcements.ts'
import { waitsBeside } from './waits.ts'
import { WhatIsLeft } from './what-is-left.tsx'

/** An upgrade: what is wrong first, then what happens, then everything else. */
export function UpgradeView({ answer, state }: { answer: OperationAnswer; state: State | undefined }) {
  const { t } = useTranslation()
  const phase = usePhase()
  const { operation } = answer
  const title = useRoute()(operation)
  const { asOf } = useFreshness(answer)
  const writes = useWriteSituation()
  const waits = waitsBeside(operation)
  useAnnouncements(operation)
  return (
    <>
      <Heading
        title={title} tab={`${phase(operation.phase)} · ${title}`} label={<PhaseLabel phase={operation.phase} />}
        crumbs={[{ text: t('cluster.title', { name: operation.cluster }), to: '/' }]} here={operation.name}
      />
      <Times answer={answer} asOf={asOf} />
      <Started />
      {operation.ended && <Now answer={answer} asOf={asOf} />}
      <Failures operation={operation} allLink="?state=Failed#nodes" />
      {!operation.ended && <Now answer={answer} asOf={asOf} />}
      <div className="refit-columns">
        <div className="refit-stack">
          {operation.ended && <Panel id="result" title={t('completion.result')} of={answer}><Result operation={operation} /></Panel>}
          {operation.phase === 'AwaitingApproval' && (
            <Panel id="approval" title={t('approval.title')} of={answer}><Approval operation={operation} /></Panel>
          )}
          {waits.length > 0 && (
            <Panel id="waiting" title={t('upgrade.waiting')} of={answer}><Waiting waiting={waits} asOf={asOf} /></Panel>
          )}
          {operation.stages.length > 0 && <Panel id="stages" title={t('upgrade.stages')} of={answer}><Stages stages={operation.stages} /></Panel>}
          {(operation.active.length > 0 || operation.phase === 'Running') && (
            <Panel id="active" title={t('upgrade.active')} of={answer}>
              <ActiveNodes operation={operation.name} active={operation.active} asOf={asOf} allLink="?state=Active#nodes" />
            </Panel>
          )}
        </div>
        {operation.ended
          ? (
              <div className="refit-stack">
                <Panel id="left" title={t('completion.next')} of={answer}><WhatIsLeft operation={operation} state={state} /></Panel>
                <Panel id="support" title={t('completion.supportTitle')}><SupportBundle operation={operation.name} /></Panel>
              </div>
            )
          : (
              <div className="refit-stack">
                <Panel id="actions" title={t('actions.title')}>
                  <Actions operation={operation} {...writes} apiReachable={state?.apiServer.reachable ?? true} />
                </Panel>
                <Panel id="support" title={t('completion.supportTitle')}><SupportBundle operation={operation.name} /></Panel>
              </div>
            )}
      </div>
      <Panel id="nodes" title={t('upgrade.nodes')} of={answer}><NodeTable operation={operation.name} /></Panel>
      {operation.ended && <Audit operation={operation.name} />}
    </>
  )
}
