import { useTranslation } from 'react-i18next'
import { Heading } from '../../components/heading.tsx'
import { ProblemState } from '../../components/problem-state.tsx'
import { useClusterState, useOperations } from '../../data/queries.ts'
import { ClusterView } from './cluster-view.tsx'

export default function ClusterPage() {
  const { t } = useTranslation()
  const state = useClusterState()
  const operations = useOperations()
  if (state.data) return <ClusterView state={state.data} operations={operations.data} />
  return (
    <>
      <Heading title={t('cluster.title', { name: '' })} />
      {state.error ? <ProblemState error={state.error} retry={() => void state.refetch()} /> : <p role="status">{t('loading')}</p>}
    </>
  )
}
