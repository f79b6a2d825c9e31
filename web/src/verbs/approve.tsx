import { Alert } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { client, dataOf } from '../api/client.ts'
import type { Operation } from '../api/documents.ts'
import { CommandLine } from '../components/command-line.tsx'
import { ProblemDetails } from '../components/problem-details.tsx'
import { keys } from '../data/keys.ts'
import { refusalOfWrite } from '../writes/refusal.ts'
import { useWriteSituation } from '../writes/use-write-situation.ts'
import { WriteButton } from '../writes/write-button.tsx'

/** Approves the plan that is shown, and no other: by its hash. */
export function Approve({ operation }: { operation: Operation }) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const { name } = operation
  const plan = operation.proposedPlan ?? operation.plan
  const refusal = refusalOfWrite('ApproveOperation', useWriteSituation())
  const approve = useMutation({
    mutationFn: (hash: string) => dataOf(client.POST('/api/v1alpha1/operations/{name}/approve', { params: { path: { name } }, body: { plan: hash } })),
    onSettled: () => void cache.invalidateQueries({ queryKey: keys.operation(name) }),
  })
  return (
    <>
      {operation.proposedPlan && <p>{t('upgrade.changedPlan')}</p>}
      <p>{t('upgrade.approve')}</p>
      <CommandLine command={`refit approve ${name} --plan ${plan ?? 'HASH'}`} />
      {plan && (
        <div className="refit-row">
          <WriteButton refusal={refusal} busy={approve.isPending} size="sm" onClick={() => approve.mutate(plan)}>{t('upgrade.approveButton')}</WriteButton>
        </div>
      )}
      {approve.error && (
        <Alert isInline isPlain variant="danger" title={t('upgrade.approveFailed')} component="h3" role="alert"><ProblemDetails error={approve.error} /></Alert>
      )}
      {approve.data && <p role="status">{approve.data.message}</p>}
    </>
  )
}
