import { queryOptions } from '@tanstack/react-query'
import { keys } from '../data/keys.ts'
import { readMe, readSignInWays } from './api.ts'

const interval = 60_000

/** The user, and what the user may do. Permissions change without an event. */
export const meQuery = queryOptions({ queryKey: keys.me, queryFn: ({ signal }) => readMe(signal), staleTime: interval, refetchInterval: interval })

/** The ways to sign in. They change with the server. */
export const signInWaysQuery = queryOptions({ queryKey: keys.signInWays, queryFn: ({ signal }) => readSignInWays(signal), staleTime: interval })
