import { Button, Masthead, MastheadContent, MastheadMain, Page, SkipToContent } from '@patternfly/react-core'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { Link, Outlet } from 'react-router'
import { useTranslation } from 'react-i18next'
import { statusOf } from '../api/problem.ts'
import { Announcer } from '../components/announcer.tsx'
import { useClusterState } from '../data/queries.ts'
import { useNow } from '../live/clock.ts'
import { serveLink } from '../live/links.ts'
import type { ServeLink } from '../live/stream.ts'
import { useLive } from '../live/use-live.ts'
import { meQuery } from '../session/me.ts'
import { session } from '../session/session.ts'
import { SessionEnded } from '../session/session-ended.tsx'
import { useSignOut } from '../session/use-sign-out.ts'
import { useStore } from '../store.ts'
import { ThemeToggle } from '../theme/theme-toggle.tsx'
import { LinkStrip } from './link-strip.tsx'
import { OutageBanner } from './outage-banner.tsx'
import { agentOf } from './agent-link.ts'

/** What surrounds every page behind the sign-in: the connections, and what is wrong with them. */
export function Shell() {
  useLive()
  const { t } = useTranslation()
  const now = useNow()
  const link = useStore(serveLink)
  const ended = useStore(session) === 'ended'
  const { data: state, error } = useClusterState()
  const serve = linkOf(link, error)
  const { data: me } = useQuery(meQuery)
  const signOut = useSignOut()
  const masthead = (
    <Masthead display={{ default: 'inline' }}>
      <MastheadMain>
        <Link to="/" className="refit-brand"><b>{t('product')}</b>{state && <span>{state.cluster}</span>}</Link>
      </MastheadMain>
      <MastheadContent className="refit-masthead-end">
        {me?.user && <span className="refit-user" title={t('session.signedIn', { user: me.user })}>{me.user}</span>}
        <ThemeToggle />
        {me && <Button variant="link" onClick={signOut}>{t('session.signOut')}</Button>}
      </MastheadContent>
    </Masthead>
  )
  return (
    <Page
      masthead={masthead} mainContainerId="content" mainComponent="div"
      skipToContent={<SkipToContent href="#content">{t('skipToContent')}</SkipToContent>}
    >
      <section aria-label={t('links.title')}>
        <LinkStrip links={{ serve, api: state?.apiServer, agent: agentOf(state) }} now={now} />
        <div className="refit-banners">
          {ended && <SessionEnded />}
          <OutageBanner serve={serve} state={state} now={now} />
        </div>
      </section>
      <main className="refit-main">
        <Suspense fallback={<p role="status">{t('loading')}</p>}><Outlet /></Suspense>
      </main>
      <Announcer />
    </Page>
  )
}

/** EventSource does not report why it has no connection: a refused request of the same user does. */
function linkOf(link: ServeLink, error: Error | null): ServeLink {
  return link.state === 'lost' && statusOf(error) === 403 ? { state: 'forbidden' } : link
}
