import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { APIServer, Outage, State } from '../api/documents.ts'
import { CommandLine } from '../components/command-line.tsx'
import { age } from '../format/duration.ts'
import { timeOfDay } from '../format/moment.ts'
import { stopwatch } from '../format/stopwatch.ts'
import type { ServeLink } from '../live/stream.ts'

interface OutageProps {
  serve: ServeLink
  state: State | undefined
  now: number
}

/** The one connection whose failure explains what the page shows: the server's before the API's. */
export function OutageBanner({ serve, state, now }: OutageProps) {
  if (serve.state === 'frozen' || serve.state === 'lost') {
    return <ServeOutage frozen={serve.state === 'frozen'} since={serve.since} now={now} hasData={state !== undefined} />
  }
  if (!state || state.apiServer.reachable) return null
  return <APIOutage api={state.apiServer} observedAt={state.observedAt} now={now} />
}

function ServeOutage({ frozen, since, now, hasData }: { frozen: boolean; since: number; now: number; hasData: boolean }) {
  const { t } = useTranslation()
  return (
    <Alert isInline variant="danger" component="h2" title={frozen ? t('outage.serveFrozen') : t('outage.serveLost')}>
      <p>{hasData ? t('outage.serveBody', { age: age(now - since) }) : t('outage.serveNothing')}</p>
      <p>{t('outage.serveCommand')} <CommandLine command="refit status" /></p>
    </Alert>
  )
}

function APIOutage({ api, observedAt, now }: { api: APIServer; observedAt: string; now: number }) {
  const { t } = useTranslation()
  const { outage } = api
  const elapsed = (time: string) => stopwatch(now - Date.parse(time))
  const left = (time: string) => stopwatch(Date.parse(time) - now)
  return (
    <Alert isInline variant={outage?.expected ? 'info' : 'danger'} component="h2" title={t(titleOf(outage))}>
      {outage && <p>{outage.message}</p>}
      {outage?.until && <p>{t('outage.until', { time: left(outage.until) })}</p>}
      {outage?.investigate && (
        <p>{t('outage.investigate', { node: outage.investigateOn ?? t('outage.controlPlane') })} <CommandLine command={outage.investigate} /></p>
      )}
      <p>
        {api.unreachableSince && t('outage.since', { moment: timeOfDay(api.unreachableSince), time: elapsed(api.unreachableSince) })}
        {' '}{t('outage.lastKnown', { age: age(now - Date.parse(observedAt)) })}
      </p>
      {api.error && <p className="refit-muted">{t('outage.error', { error: api.error })}</p>}
    </Alert>
  )
}

/** Only what the server has concluded is a title: an outage that nobody has explained has none. */
function titleOf(outage: Outage | undefined) {
  if (outage?.expected) return 'outage.apiExpected'
  switch (outage?.cause) {
    case 'Failure': return 'outage.apiFailed'
    case 'Other': return 'outage.apiUnexpected'
    default: return 'outage.apiUnexplained'
  }
}
