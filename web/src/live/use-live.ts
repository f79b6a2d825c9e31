import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keys } from '../data/keys.ts'
import { session } from '../session/session.ts'
import { useStore } from '../store.ts'
import { clockOffset } from './clock.ts'
import { eventHandler } from './events.ts'
import { serveLink } from './links.ts'
import { follow } from './stream.ts'

/** Follows the events of the server while there is a session. */
export function useLive() {
  const cache = useQueryClient()
  const ended = useStore(session) === 'ended'
  useEffect(() => {
    if (ended) {
      serveLink.set({ state: 'signedOut' })
      return
    }
    serveLink.set({ state: 'connecting' })
    return follow('/api/v1alpha1/events', {
      event: eventHandler(cache),
      link: (link) => serveLink.set('since' in link ? { ...link, since: link.since + clockOffset() } : link),
      // EventSource hides the status. A request with an answer of its own finds out about a 401.
      refused: () => void cache.invalidateQueries({ queryKey: keys.me }),
    })
  }, [cache, ended])
}
