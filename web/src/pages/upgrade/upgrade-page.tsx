import { useParams } from 'react-router'
import { useTranslation } from 'react-i18next'
import { statusOf } from '../../api/problem.ts'
import { Heading } from '../../components/heading.tsx'
import { ProblemState } from '../../components/problem-state.tsx'
import { useClusterState, useOperation } from '../../data/queries.ts'
import { UpgradeView } from './upgrade-view.tsx'

/** An upgrade, whoever started it. */
export default function UpgradePage() {
  const { t } = useTranslation()
  const { name = '' } = useParams()
  const answer = useOperation(name)
  const { data: state } = useClusterState()
  if (answer.data) return <UpgradeView answer={answer.data} state={state} />
  const title = t('upgrade.operation', { name })
  return (
    <>
      <Heading title={title} crumbs={[{ text: t('cluster.title', { name: state?.cluster ?? '' }), to: '/' }]} />
      {answer.error
        ? <ProblemState
            error={answer.error} retry={() => void answer.refetch()}
            title={statusOf(answer.error) === 404 ? t('problem.operationNotFound', { name }) : undefined}
          />
        : <p role="status">{t('loading')}</p>}
    </>
  )
}
