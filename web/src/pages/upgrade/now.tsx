import { Alert, type AlertProps } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Operation, OperationAnswer } from '../../api/documents.ts'
import { AgeLabel } from '../../components/age-label.tsx'
import { Elapsed } from '../../components/elapsed.tsx'
import { Remedy } from '../../components/remedy.tsx'
import { Approve } from '../../verbs/approve.tsx'
import { coveredByFailures } from './waits.ts'

const variants: Record<string, AlertProps['variant']> = {
  Stalled: 'danger', AwaitingApproval: 'warning', Paused: 'warning', Waiting: 'warning', Aborting: 'warning',
  Succeeded: 'success', Aborted: 'custom',
}

/** What the operation does or waits for, and what the user can do. The failures above may cover it. */
export function Now({ answer, asOf }: { answer: OperationAnswer; asOf: number }) {
  const { operation } = answer
  if (coveredByFailures(operation)) return null
  const title = <><Message operation={operation} asOf={asOf} /> <AgeLabel of={answer} quiet /></>
  return (
    <Alert isInline variant={variants[operation.phase] ?? 'info'} title={title} component="h2">
      {!operation.ended && <Remedy remedy={operation.remedy} />}
      {operation.phase === 'AwaitingApproval' && <Approve operation={operation} />}
    </Alert>
  )
}

function Message({ operation, asOf }: { operation: Operation; asOf: number }) {
  const { t } = useTranslation()
  if (operation.phase === 'Succeeded') return t('upgrade.succeeded')
  if (operation.phase === 'Aborted') return operation.componentsOnly ? t('upgrade.abortedComponents') : t('upgrade.aborted')
  return (
    <>
      {operation.message || t('upgrade.notObserved')}
      {operation.since && <> (<Elapsed since={operation.since} asOf={asOf} />)</>}
    </>
  )
}
