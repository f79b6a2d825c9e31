import { Label } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { APIServer } from '../api/documents.ts'
import { age } from '../format/duration.ts'
import { stopwatch } from '../format/stopwatch.ts'
import type { ServeLink } from '../live/stream.ts'

type Look = 'success' | 'warning' | 'danger' | undefined

export interface AgentLink {
  connected: boolean
  node?: string | undefined
}

export interface Links {
  serve: ServeLink
  api: APIServer | undefined
  agent: AgentLink | undefined
}

/**
 * The three connections, each with its own state: they fail for different reasons. While the server
 * does not answer, the state of the other two is unknown.
 */
export function LinkStrip({ links, now }: { links: Links; now: number }) {
  const { t } = useTranslation()
  const serve = useServe(links.serve, now)
  const api = useAPI(links, now)
  const agent = useAgent(links)
  return (
    <dl className="refit-links">
      <Item name={t('links.serve')} help={t('links.serveHelp')} text={serve.text} look={serve.look} />
      <Item name={t('links.api')} help={t('links.apiHelp')} text={api.text} look={api.look} />
      <Item name={t('links.agent')} help={t('links.agentHelp')} text={agent.text} look={agent.look} />
    </dl>
  )
}

function Item({ name, help, text, look }: { name: string; help: string; text: string; look: Look }) {
  return (
    <div title={help}>
      <dt>{name}</dt>
      <dd><Label isCompact variant="outline" {...(look && { status: look })}>{text}</Label></dd>
    </div>
  )
}

function useServe(link: ServeLink, now: number): { text: string; look: Look } {
  const { t } = useTranslation()
  switch (link.state) {
    case 'connecting': return { text: t('links.connecting'), look: undefined }
    case 'signedOut': return { text: t('links.signedOut'), look: 'warning' }
    case 'forbidden': return { text: t('links.forbidden'), look: 'warning' }
    case 'live': return { text: t('links.live'), look: 'success' }
    case 'frozen': return { text: t('links.frozen', { time: age(now - link.since) }), look: 'danger' }
    case 'lost': return { text: t('links.lost', { time: age(now - link.since) }), look: 'danger' }
  }
}

function useAPI({ serve, api }: Links, now: number): { text: string; look: Look } {
  const { t } = useTranslation()
  if (serve.state !== 'live' || api === undefined) return { text: t('links.unknown'), look: undefined }
  if (api.reachable) return { text: t('links.answers'), look: 'success' }
  const look = api.outage?.expected ? 'warning' : 'danger'
  if (!api.unreachableSince) return { text: t('links.unreachableNow'), look }
  return { text: t('links.unreachable', { time: stopwatch(now - Date.parse(api.unreachableSince)) }), look }
}

function useAgent({ serve, agent }: Links): { text: string; look: Look } {
  const { t } = useTranslation()
  if (serve.state !== 'live') return { text: t('links.unknown'), look: undefined }
  if (agent === undefined) return { text: t('links.noAgent'), look: undefined }
  return agent.connected
    ? { text: agent.node ?? t('links.agentConnected'), look: 'success' }
    : { text: t('links.agentLost'), look: 'danger' }
}
