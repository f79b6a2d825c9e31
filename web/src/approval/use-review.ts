import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Check, ClusterUpgradeSpec } from '../api/documents.ts'
import { readChangeable } from '../unblock/change-operation.ts'
import { startCheck, useCheck } from '../wizard/checks.ts'

const readTimeout = 15_000

/** Makes the plan of an upgrade again, because the upgrade has only its hash. It changes nothing. */
export function useReview(operation: string): { start: () => void; busy: boolean; check: Check | undefined; error: Error | null } {
  const cache = useQueryClient()
  const started = useMutation({
    mutationFn: async () => {
      const { spec } = await readChangeable(operation, AbortSignal.timeout(readTimeout))
      return startCheck(checkedSpec(spec), cache)
    },
  })
  const check = useCheck(started.data?.id ?? '')
  return {
    start: () => { if (!started.isPending) started.mutate() },
    busy: started.isPending || check.data?.state === 'Running',
    check: check.data,
    error: started.error ?? check.error,
  }
}

/** The spec without what only an upgrade that exists has. */
export function checkedSpec(spec: ClusterUpgradeSpec): ClusterUpgradeSpec {
  const out = { ...spec }
  for (const field of ['approvedPlan', 'paused', 'aborted', 'retry', 'abandonedNodes'] as const) delete out[field]
  return out
}
