import type { Operation, Wait } from '../../api/documents.ts'

/** The waits that neither the message nor the failures of an operation show already. */
export function waitsBeside(operation: Operation): Wait[] {
  const failed = new Set(operation.failures.map((failure) => failure.node ?? failure.component))
  return (operation.waiting ?? []).filter((wait) =>
    wait.message !== operation.message && !failed.has(wait.node ?? wait.component ?? ''))
}

/** Whether the operation is stalled by failures, each of which is listed with its remedy. */
export function coveredByFailures(operation: Operation): boolean {
  return !operation.ended && operation.failures.length > 0 && (operation.reason === 'NodeFailed' || operation.reason === 'ComponentFailed')
}
