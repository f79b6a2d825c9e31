import { Alert } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { client, dataOf } from '../api/client.ts'
import type { Operation } from '../api/documents.ts'
import { ProblemError } from '../api/problem.ts'
import { announce } from '../components/announcer.tsx'
import { CommandLine } from '../components/command-line.tsx'
import { ProblemDetails } from '../components/problem-details.tsx'
import { keys } from '../data/keys.ts'
import { refusalOfWrite } from '../writes/refusal.ts'
import { useWriteSituation } from '../writes/use-write-situation.ts'
import { WriteButton } from '../writes/write-button.tsx'
import { keepReviewed } from './reviewed-plans.ts'
import { ReviewedPlan } from './reviewed-plan.tsx'
import { useReview } from './use-review.ts'

/** Shows the plan that waits for approval, and approves it by its hash. */
export function Approval({ operation }: { operation: Operation }) {
  const { t } = useTranslation()
  const { name, approvedPlan, proposedPlan } = operation
  const hash = proposedPlan ?? operation.plan
  const writes = useWriteSituation()
  const review = useReview(name)
  const plan = review.check?.report?.plan
  const approve = useApprove(name, review.start)
  const stale = approve.error instanceof ProblemError && approve.error.problem.code === 'plan-changed'
  const refused = stale && approve.variables !== hash ? approve.variables : undefined
  const before = refused ?? (proposedPlan ? approvedPlan ?? operation.plan : undefined)
  if (!hash) return <p>{t('approval.noPlan')}</p>
  const approveThis = () => {
    if (plan?.hash === hash) keepReviewed(plan)
    approve.mutate(hash)
  }
  return (
    <div className="refit-stack">
      {approve.error && (
        <Alert isInline variant={stale ? 'warning' : 'danger'} title={t(stale ? 'approval.stale' : 'approval.failed')} component="h3" role="alert">
          {stale ? <p>{t('approval.staleHelp')}</p> : <ProblemDetails error={approve.error} />}
        </Alert>
      )}
      <dl className="refit-hashes">
        <div><dt>{t('approval.hash')}</dt><dd><CommandLine command={hash} /></dd></div>
        {before && <div><dt>{t('approval.before')}</dt><dd><code>{before}</code></dd></div>}
      </dl>
      <ReviewedPlan review={review} hash={hash} before={before} />
      <p>{t('approval.help')}</p>
      <div className="refit-row">
        <WriteButton
          refusal={refusalOfWrite('ApproveOperation', writes)} busy={approve.isPending} onClick={approveThis}
          reason={stale && approve.variables === hash ? t('approval.awaitNew') : undefined}
        >
          {t('approval.button')}
        </WriteButton>
        {!plan && (
          <WriteButton variant="secondary" refusal={refusalOfWrite('CreateCheck', writes)} busy={review.busy} onClick={review.start}>
            {t('approval.show')}
          </WriteButton>
        )}
      </div>
      {approve.data && <p role="status">{approve.data.message}</p>}
      <p className="refit-muted">{t('wizard.command')} <CommandLine command={`refit approve ${name} --plan ${hash}`} /></p>
    </div>
  )
}

/** Approves a plan. If another one has replaced it, that one is shown. */
function useApprove(name: string, showPlan: () => void) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (plan: string) => dataOf(client.POST('/api/v1alpha1/operations/{name}/approve', { params: { path: { name } }, body: { plan } })),
    onSuccess: ({ message }) => announce(message),
    onError: (error) => {
      if (error instanceof ProblemError && error.problem.code === 'plan-changed') showPlan()
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: keys.operation(name) }),
  })
}
