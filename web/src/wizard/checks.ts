import { useQuery, type QueryClient } from '@tanstack/react-query'
import { client, dataOf } from '../api/client.ts'
import type { Check, ClusterUpgradeSpec } from '../api/documents.ts'
import { ProblemError } from '../api/problem.ts'
import { keys } from '../data/keys.ts'

/** How long an answer about a running check waits for its end. Each answer has the part that is read. */
const longPoll = 'wait=2'
const pollInterval = 300

/** Follows a check to its end, also after the page was opened again. */
export function useCheck(id: string) {
  return useQuery<Check>({
    queryKey: keys.check(id),
    enabled: id !== '',
    refetchInterval: ({ state }) => state.data?.state === 'Running' ? pollInterval : false,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/checks/{id}', {
      params: { path: { id }, header: { Prefer: longPoll } }, signal,
    })),
  })
}

/** Starts a check. It changes nothing in the cluster. */
export async function startCheck(spec: ClusterUpgradeSpec, cache: QueryClient): Promise<Check> {
  const check = await dataOf(client.POST('/api/v1alpha1/checks', { body: spec }))
  cache.setQueryData(keys.check(check.id), check)
  return check
}

/** The manifest of a check, for kubectl. */
export function useManifest(id: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.manifest(id),
    enabled: enabled && id !== '',
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/checks/{id}/manifest', {
      params: { path: { id } }, parseAs: 'text', signal,
    })),
  })
}

/** Why a check could not be completed. */
export function failureOf({ error, id }: Check): Error {
  if (!error) return new Error()
  return new ProblemError({ type: 'about:blank', title: error.code, requestId: id, ...error })
}
