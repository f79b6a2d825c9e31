import { useQuery } from '@tanstack/react-query'
import { client, dataOf } from '../../api/client.ts'
import type { Answers, Config, RenderedConfig } from '../../api/documents.ts'
import { keys } from '../../data/keys.ts'

/** The form of a ClusterRelease with its answers, and the version of the answers. */
export interface ReadConfig {
  config: Config
  etag: string
}

/** Reads the form of a ClusterRelease once: what is being typed must not be replaced. */
export function useConfig(release: string) {
  return useQuery<ReadConfig>({
    queryKey: keys.config(release),
    enabled: release !== '',
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) => withETag(client.GET('/api/v1alpha1/config', { params: { query: { release } }, signal })),
  })
}

/** Evaluates answers: what is shown, and what is wrong. */
export function renderConfig(release: string, answers: Answers, signal: AbortSignal): Promise<RenderedConfig> {
  return dataOf(client.POST('/api/v1alpha1/config/render', { params: { query: { release } }, body: { answers }, signal }))
}

/** Saves answers over the version that was read. */
export function saveConfig(release: string, answers: Answers, etag: string): Promise<ReadConfig> {
  return withETag(client.PUT('/api/v1alpha1/config', { params: { query: { release }, header: { 'If-Match': etag } }, body: { answers } }))
}

async function withETag(answering: Promise<{ data?: Config; error?: unknown; response: Response }>): Promise<ReadConfig> {
  const answer = await answering
  const config = await dataOf(Promise.resolve(answer))
  return { config, etag: answer.response.headers.get('ETag') ?? '' }
}
