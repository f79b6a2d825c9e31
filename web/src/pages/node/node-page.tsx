import { useParams } from 'react-router'
import { useTranslation } from 'react-i18next'
import { statusOf } from '../../api/problem.ts'
import { Heading } from '../../components/heading.tsx'
import { ProblemState } from '../../components/problem-state.tsx'
import { useClusterState, useExplanation } from '../../data/queries.ts'
import { NodeView } from './node-view.tsx'

export default function NodeRoute() {
  const { t } = useTranslation()
  const { name = '' } = useParams()
  const answer = useExplanation(name)
  const { data: state } = useClusterState()
  if (answer.data) return <NodeView answer={answer.data} />
  return (
    <>
      <Heading title={t('nodePage.title', { name })} crumbs={[{ text: t('cluster.title', { name: state?.cluster ?? '' }), to: '/' }]} />
      {answer.error
        ? <ProblemState
            error={answer.error} retry={() => void answer.refetch()}
            title={statusOf(answer.error) === 404 ? t('problem.nodeNotFound', { name }) : undefined}
          />
        : <p role="status">{t('loading')}</p>}
    </>
  )
}
