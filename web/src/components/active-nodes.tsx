import { Label } from '@patternfly/react-core'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { NodeProgress } from '../api/documents.ts'
import { UnblockAction } from '../unblock/unblock-action.tsx'
import { useActivity } from './activity.ts'
import { Blockers } from './blockers.tsx'
import { Elapsed } from './elapsed.tsx'

const shownNodes = 12
const shownBlockers = 4

/** The nodes in progress: those that failed or are blocked first. */
export function ActiveNodes({ operation, active, asOf, allLink }: { operation: string; active: NodeProgress[]; asOf: number; allLink: string }) {
  const { t } = useTranslation()
  if (active.length === 0) return <p className="refit-muted">{t('upgrade.activeNone')}</p>
  const sorted = active.toSorted((a, b) => urgency(a) - urgency(b))
  const more = active.length - shownNodes
  return (
    <>
      <ul className="refit-active">
        {sorted.slice(0, shownNodes).map((node) => <ActiveNode key={node.node} operation={operation} node={node} asOf={asOf} />)}
      </ul>
      {more > 0 && <p>{t('upgrade.moreActive', { count: more })}. <Link to={allLink}>{t('upgrade.showAllActive')}</Link></p>}
    </>
  )
}

function urgency(node: NodeProgress) {
  if (node.activity === 'Failed') return 0
  return node.blockers?.length ? 1 : 2
}

function ActiveNode({ operation, node, asOf }: { operation: string; node: NodeProgress; asOf: number }) {
  const { t } = useTranslation()
  const activity = useActivity()(node)
  const blockers = node.blockers ?? []
  return (
    <li>
      <Link to={`/nodes/${encodeURIComponent(node.node)}`} className="refit-active-name">{node.node}</Link>
      <span className="refit-active-clock">{node.since && <Elapsed since={node.since} asOf={asOf} />}</span>
      <div>
        {node.activity === 'Failed' ? <Label status="danger" isCompact>{activity}</Label> : activity}
        {blockers.length > 0 && <> <Label status="warning" isCompact>{t('activity.blocked', { count: blockers.length })}</Label></>}
        {node.waits && <div className="refit-muted">{t('nodePage.waits', { waits: node.waits })}</div>}
        {blockers.length > 0 && <Blockers blockers={blockers} most={shownBlockers} />}
        {blockers.length > 0 && <UnblockAction operation={operation} node={node} />}
      </div>
    </li>
  )
}
