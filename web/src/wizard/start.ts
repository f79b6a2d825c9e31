import { client, dataOf, fetchWithin } from '../api/client.ts'
import type { Check, StartedOperation } from '../api/documents.ts'

/** The server checks the upgrade again before it starts it. */
const startTimeout = 120_000

/**
 * Starts the upgrade of a check with the plan that was reviewed. The key is that of the check and its
 * plan: a second click, a retry after an error, a reload and a second tab start one upgrade.
 */
export function startOperation(check: Check): Promise<StartedOperation> {
  const plan = check.report?.plan?.hash ?? ''
  return dataOf(client.POST('/api/v1alpha1/operations', {
    params: { header: { 'Idempotency-Key': idempotencyKey(check.id, plan) } },
    body: { spec: check.spec, plan },
    fetch: fetchWithin(startTimeout),
  }))
}

export function idempotencyKey(check: string, plan: string): string {
  return `web-${check}-${plan.replace('sha256:', '').slice(0, 16)}`
}
