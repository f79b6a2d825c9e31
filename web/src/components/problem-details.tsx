import { useTranslation } from 'react-i18next'
import { ProblemError } from '../api/problem.ts'
import { Remedy } from './remedy.tsx'

/** Why a request failed, in a sentence, and what the user can do. */
export function ProblemDetails({ error }: { error: Error }) {
  const { t } = useTranslation()
  const problem = error instanceof ProblemError ? error.problem : undefined
  return (
    <>
      <p>{problem ? problem.detail ?? problem.title : error.name === 'TimeoutError' ? t('problem.timeout') : t('problem.network')}</p>
      <Remedy remedy={problem?.remedy} />
    </>
  )
}
