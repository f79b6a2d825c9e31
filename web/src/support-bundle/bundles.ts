import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { client, dataOf } from '../api/client.ts'
import type { SupportBundle } from '../api/documents.ts'
import { ProblemError } from '../api/problem.ts'
import { keys } from '../data/keys.ts'
import { forgetBundle, keepBundle } from './kept.ts'

const pollInterval = 1000

/** Follows a support bundle to its end. */
export function useBundle(id: string) {
  return useQuery<SupportBundle>({
    queryKey: keys.bundle(id),
    enabled: id !== '',
    refetchInterval: ({ state }) => state.data?.state === 'Running' ? pollInterval : false,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/support-bundles/{id}', { params: { path: { id } }, signal })),
  })
}

/** Collects a support bundle about an operation. */
export function useCollect(operation: string) {
  const cache = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(client.POST('/api/v1alpha1/support-bundles', { body: { operation } })),
    onMutate: () => forgetBundle(operation),
    onSuccess: (bundle) => {
      cache.setQueryData(keys.bundle(bundle.id), bundle)
      keepBundle(operation, bundle.id)
    },
  })
}

/** Why a bundle has no file. */
export function failureOf({ error, id }: SupportBundle): Error | undefined {
  return error && new ProblemError({ type: 'about:blank', title: error.code, requestId: id, ...error })
}

export function addressOf(id: string): string {
  return `/api/v1alpha1/support-bundles/${encodeURIComponent(id)}/file`
}
