import { QueryClient } from '@tanstack/react-query'
import { statusOf } from '../api/problem.ts'

/** The answers of the server. Its events keep them up to date, so they are not read again by time. */
export function createCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // A browser without a route to the internet reports that it is offline; the server may be on this machine.
        networkMode: 'always',
        staleTime: Infinity,
        gcTime: 30 * 60_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => (statusOf(error) ?? 503) >= 500 && failures < 3,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}
