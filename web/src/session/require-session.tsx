import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation } from 'react-router'
import { statusOf } from '../api/problem.ts'
import { useStore } from '../store.ts'
import { Shell } from '../shell/shell.tsx'
import { codeSignIn } from './code-sign-in.ts'
import { meQuery } from './me.ts'

/**
 * Sends a user without a session to the sign-in. A session that ends later does not leave the page,
 * and a server that does not answer is no reason to sign in.
 */
export function RequireSession() {
  const { pathname, search } = useLocation()
  const pending = useStore(codeSignIn).state
  const me = useQuery({ ...meQuery, enabled: pending !== 'pending' && pending !== 'failed' })
  const here = { from: pathname + search }
  if (pending === 'pending' || pending === 'failed') return <Navigate to="/sign-in" replace state={here} />
  if (me.data === undefined && statusOf(me.error) === 401) return <Navigate to="/sign-in" replace state={here} />
  if (me.isPending) return null
  return <Shell />
}
