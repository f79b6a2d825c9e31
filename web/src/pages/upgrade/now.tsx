import { Alert, type AlertProps } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Operation, OperationAnswer } from '../../api/documents.ts'
import { AgeLabel } from '../../components/age-label.tsx'
import { Elapsed } from '../../components/elapsed.tsx'
import { Remedy } from '../../components/remedy.tsx'
import { coveredByFailures } from './waits.ts'

const variants: Record<string, AlertProps['variant']> = {
  Stalled: 'danger', AwaitingApproval: 'warning', Paused: 'warning', Waiting: 'warning', Aborting: 'warning',
  Succeeded: 'success', Aborted: 'warning',
}

/** What the operation does or waits for, and what the user can do. The failures may cover it; an approval has its own panel. */
export function Now({ answer, asOf }: { answer: OperationAnswer; asOf: number }) {
  const { operation } = answer
  if (coveredByFailures(operation)) return null
  const title = <><Message operation={operation} asOf={asOf} /> <AgeLabel of={answer} quiet /></>
  return (
    <Alert isInline variant={variants[operation.phase] ?? 'info'} title={title} component="h2">
      {!operation.ended && operation.phase !== 'AwaitingApproval' && <Remedy remedy={operation.remedy} />}
    </Alert>
  )
}

function Message({ operation, asOf }: { operation: Operation; asOf: number }) {
  const { t } = useTranslation()
  if (operation.phase === 'Succeeded') return t('upgrade.succeeded')
  if (operation.phase === 'Aborted') {
    const { nodes, to } = operation
    if (operation.componentsOnly) return t('upgrade.abortedComponents')
    return t('upgrade.aborted', { done: nodes.done, nodes: t('node', { count: nodes.total }), to })
  }
  return (
    <>
      {operation.message || t('upgrade.notObserved')}
      {operation.since && <> (<Elapsed since={operation.since} asOf={asOf} />)</>}
    </>
  )
}
