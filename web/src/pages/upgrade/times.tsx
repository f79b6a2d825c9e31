import { useTranslation } from 'react-i18next'
import type { OperationAnswer } from '../../api/documents.ts'
import { AgeLabel } from '../../components/age-label.tsx'
import { duration } from '../../format/duration.ts'
import { stopwatch } from '../../format/stopwatch.ts'

/** The name of the operation, its duration, the remaining time, and the number of completed nodes. */
export function Times({ answer, asOf }: { answer: OperationAnswer; asOf: number }) {
  const { t } = useTranslation()
  const { operation } = answer
  const started = Date.parse(operation.startTime)
  const { nodes, componentsOnly } = operation
  const facts = [
    t('upgrade.operation', { name: operation.name }),
    operation.ended && operation.completionTime
      ? t('upgrade.endedAfter', { time: stopwatch(Date.parse(operation.completionTime) - started) })
      : t('upgrade.started', { time: stopwatch(asOf - started) }),
    operation.leftSeconds && !operation.ended ? t('upgrade.left', { time: duration(operation.leftSeconds * 1000) }) : '',
    nodes.total > 0 && !componentsOnly ? t('upgrade.progress', { done: nodes.done, nodes: t('node', { count: nodes.total }) }) : '',
    nodes.failed > 0 ? t('upgrade.failedCount', { failed: nodes.failed, nodes: t('node', { count: nodes.total }) }) : '',
    nodes.skipped > 0 ? t('upgrade.skipped', { count: nodes.skipped }) : '',
  ]
  return <p className="refit-times">{facts.filter(Boolean).join(' · ')} <AgeLabel of={answer} /></p>
}
