import { useQuery } from '@tanstack/react-query'
import { useClusterState } from '../data/queries.ts'
import { serveLink } from '../live/links.ts'
import { meQuery } from '../session/me.ts'
import { session } from '../session/session.ts'
import { useStore } from '../store.ts'
import type { WriteSituation } from './refusal.ts'

/** The connections and the permissions that every write depends on. */
export function useWriteSituation(): WriteSituation {
  const { data: me } = useQuery(meQuery)
  const { data: state } = useClusterState()
  return {
    serve: useStore(serveLink), apiReachable: state?.apiServer.reachable ?? true, signedOut: useStore(session) === 'ended', me,
  }
}
