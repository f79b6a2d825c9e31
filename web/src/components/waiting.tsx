import { Label } from '@patternfly/react-core'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { Wait } from '../api/documents.ts'
import { Elapsed } from './elapsed.tsx'
import { Remedy } from './remedy.tsx'

/** Everything that an operation waits for, the most important first. */
export function Waiting({ waiting, asOf }: { waiting: Wait[]; asOf: number }) {
  const { t } = useTranslation()
  return (
    <ul className="refit-waiting">
      {waiting.map((wait, i) => (
        <li key={i}>
          {wait.actionRequired && <><Label status="danger" isCompact>{t('upgrade.actionRequired')}</Label> </>}
          <span>{wait.message}</span>
          {wait.since && <span className="refit-muted"> (<Elapsed since={wait.since} asOf={asOf} />)</span>}
          {wait.moreNodes ? <span> {t('upgrade.waitingMore', { nodes: t('node', { count: wait.moreNodes }) })}</span> : null}
          {wait.node && <> <Link to={`/nodes/${encodeURIComponent(wait.node)}`}>{t('upgrade.explain', { node: wait.node })}</Link></>}
          <Remedy remedy={wait.remedy} />
        </li>
      ))}
    </ul>
  )
}
