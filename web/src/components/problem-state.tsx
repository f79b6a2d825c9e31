import { Alert, AlertActionLink } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../api/problem.ts'
import { ProblemDetails } from './problem-details.tsx'

/** Why something could not be read. */
export function ProblemState({ error, retry, title }: { error: Error; retry?: () => void; title?: string | undefined }) {
  const { t } = useTranslation()
  const problem = error instanceof ProblemError ? error.problem : undefined
  const heading = title ?? (problem?.status === 403 ? t('problem.forbidden') : t('problem.failed'))
  return (
    <Alert
      isInline variant="danger" title={heading} component="h2"
      {...(retry && { actionLinks: <AlertActionLink onClick={retry}>{t('problem.retry')}</AlertActionLink> })}
    >
      <ProblemDetails error={error} />
      {problem?.requestId && <p className="refit-muted">{t('problem.requestId', { id: problem.requestId })}</p>}
    </Alert>
  )
}
