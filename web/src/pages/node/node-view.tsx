import { Alert, type AlertProps } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { NodeAnswer } from '../../api/documents.ts'
import { AgeLabel } from '../../components/age-label.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { Heading } from '../../components/heading.tsx'
import { Panel } from '../../components/panel.tsx'
import { Remedy } from '../../components/remedy.tsx'
import { useFreshness } from '../../live/freshness.ts'
import { NodeState, useNodeState } from '../../nodes/node-state.tsx'
import { Drain } from './drain.tsx'
import { HostFacts } from './host-facts.tsx'
import { NodeError } from './node-error.tsx'
import { Steps } from './steps.tsx'

const variants: Record<string, AlertProps['variant']> = { Failed: 'danger', Refused: 'danger', Skipped: 'warning', Done: 'success', Active: 'info' }

/** A node in an upgrade: its state and why, the remedy, then the details. */
export function NodeView({ answer }: { answer: NodeAnswer }) {
  const { t } = useTranslation()
  const { explanation } = answer
  const { asOf } = useFreshness(answer)
  const { operation, drain } = explanation
  const title = t('nodePage.title', { name: explanation.node })
  const crumbs = [{ text: t('cluster.title', { name: explanation.cluster }), to: '/' }]
  if (operation) crumbs.push({ text: operation.name, to: `/operations/${encodeURIComponent(operation.name)}` })
  return (
    <>
      <Heading title={title} tab={`${useNodeState()(explanation.state)} · ${title}`} crumbs={crumbs} here={explanation.node} label={<><NodeState state={explanation.state} /> <AgeLabel of={answer} /></>} />
      <Alert isInline variant={variants[explanation.state] ?? 'custom'} title={explanation.message} component="h2">
        <Remedy remedy={explanation.remedy} />
        <CommandLine command={`refit explain ${explanation.node}`} />
      </Alert>
      <div className="refit-columns">
        <div className="refit-stack">
          {explanation.error && <NodeError error={explanation.error} of={answer} />}
          {drain && <Panel id="drain" title={t('nodePage.drain')} of={answer}><Drain drain={drain} asOf={asOf} /></Panel>}
          <Panel id="steps" title={t('nodePage.steps')} of={answer}><Steps steps={explanation.steps ?? []} asOf={asOf} /></Panel>
        </div>
        <Panel id="facts" title={t('nodePage.facts')} of={answer}><HostFacts explanation={explanation} asOf={asOf} /></Panel>
      </div>
    </>
  )
}
