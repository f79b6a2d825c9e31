import { Alert } from '@patternfly/react-core'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../../api/problem.ts'
import { ProblemDetails } from '../../components/problem-details.tsx'

/** Why the upgrade did not start. Without an answer it may have started: the button repeats the same request. */
export function StartProblem({ error }: { error: Error }) {
  const { t } = useTranslation()
  const answer = error instanceof ProblemError ? error.problem : undefined
  const problem = answer?.code === 'unknown' ? undefined : answer // a proxy answered
  return (
    <Alert isInline variant="danger" title={problem ? t('start.failed') : t('start.unanswered')} component="h2" role="alert">
      <ProblemDetails error={error} />
      {!problem && <p>{t('start.repeat')}</p>}
      {problem?.operation && (
        <p><Link to={`/operations/${encodeURIComponent(problem.operation)}`}>{t('start.showOperation', { name: problem.operation })}</Link></p>
      )}
      {problem?.errors?.map(({ pointer, detail }) => <p key={pointer}><b>{pointer.replace(/^#\//, '').replaceAll('/', '.')}</b>: {detail}</p>)}
      {problem?.requestId && <p className="refit-muted">{t('problem.requestId', { id: problem.requestId })}</p>}
    </Alert>
  )
}
