import { Progress, ProgressMeasureLocation, ProgressSize, ProgressVariant } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { StageProgress } from '../api/documents.ts'
import { useStageTitle } from './stage-title.ts'

/** These stages are done once for the cluster, so that a count of nodes has no meaning. */
const once = new Set(['Backup', 'Rehearsal', 'Verify'])
/** This stage has something to do even without nodes. */
const always = new Set(['Verify'])

/** A bar for each stage that has something to do. */
export function Stages({ stages }: { stages: StageProgress[] }) {
  const shown = stages.filter((stage) => stage.total > 0 || always.has(stage.name))
  return (
    <ol className="refit-stages">
      {shown.map((stage) => (
        <li key={`${stage.name} ${stage.kubernetes ?? ''}`} aria-current={stage.state === 'InProgress' ? 'step' : undefined}>
          <Stage stage={stage} />
        </li>
      ))}
    </ol>
  )
}

function Stage({ stage }: { stage: StageProgress }) {
  const { t } = useTranslation()
  const done = stage.state === 'Done'
  const title = useStageTitle()(stage)
  const word = done ? t('upgrade.stageDone') : stage.state === 'InProgress' ? t('upgrade.stageInProgress') : t('upgrade.stagePending')
  const counted = stage.total > 0 && !once.has(stage.name)
  return (
    <Progress
      id={`stage-${stage.name}-${stage.kubernetes ?? ''}`}
      title={<span className={`refit-stage-${stage.state}`}>{title}</span>}
      value={done ? 100 : stage.total > 0 ? (100 * stage.done) / stage.total : 0}
      valueText={counted ? t('of', { done: stage.done, total: stage.total }) : word}
      label={counted ? t('of', { done: stage.done, total: stage.total }) : word}
      measureLocation={ProgressMeasureLocation.top}
      size={ProgressSize.sm}
      {...(done && { variant: ProgressVariant.success })}
    />
  )
}
