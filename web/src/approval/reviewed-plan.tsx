import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { Plan, Report } from '../api/documents.ts'
import { Disclosure } from '../components/disclosure.tsx'
import { ProblemState } from '../components/problem-state.tsx'
import { PlanStages } from '../pages/plan/plan-stages.tsx'
import { Summary } from '../pages/plan/summary.tsx'
import { failureOf } from '../wizard/checks.ts'
import { ChangesOfPlan } from './changes-of-plan.tsx'
import { outlineOf } from './outline.ts'
import { reviewedPlan } from './reviewed-plans.ts'
import { unreadParts } from './unread-parts.ts'
import type { useReview } from './use-review.ts'

interface ReviewedPlanProps {
  review: ReturnType<typeof useReview>
  /** The plan that waits for approval. */
  hash: string
  /** The plan that it replaces. */
  before: string | undefined
}

/** The plan that waits for approval, and what is different from the plan before. */
export function ReviewedPlan({ review, hash, before }: ReviewedPlanProps) {
  const { t } = useTranslation()
  const { check, error } = review
  const { report } = check ?? {}
  if (error) return <ProblemState error={error} title={t('approval.notShown')} retry={review.start} />
  if (check?.state === 'Failed') return <ProblemState error={failureOf(check)} title={t('approval.notShown')} retry={review.start} />
  if (review.busy) return <p role="status">{t('preflight.running')}</p>
  if (!report) return before ? <p>{t('approval.replaced')}</p> : null
  if (!report.plan) return <Alert isInline variant="danger" title={t('preflight.noPlan')} component="h3" />
  return <Shown report={report} plan={report.plan} hash={hash} before={before} retry={review.start} />
}

function Shown({ report, plan, hash, before, retry }: { report: Report; plan: Plan; hash: string; before: string | undefined; retry: () => void }) {
  const { t } = useTranslation()
  const old = reviewedPlan(before)
  const unread = unreadParts(report)
  return (
    <>
      {plan.hash !== hash && (
        <Alert
          isInline variant="warning" title={t('approval.different')} component="h3"
          actionLinks={<button type="button" className="pf-v6-c-button pf-m-link pf-m-inline" onClick={retry}>{t('problem.retry')}</button>}
        >
          <p>{t('approval.differentHelp', { hash: plan.hash })}</p>
        </Alert>
      )}
      {unread.length > 0 && (
        <Alert isInline variant="warning" title={t('approval.unread')} component="h3">
          <p>{t('approval.unreadHelp', { parts: unread.join(', ') })}</p>
        </Alert>
      )}
      {before && (old ? <ChangesOfPlan before={old} after={outlineOf(plan)} /> : <p>{t('approval.unknownBefore')}</p>)}
      <Summary plan={plan} report={report} withHash={false} />
      <Disclosure title={t('plan.stages')}><PlanStages plan={plan} /></Disclosure>
    </>
  )
}
