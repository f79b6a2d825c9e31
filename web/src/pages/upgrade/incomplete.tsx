import { Label } from '@patternfly/react-core'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import { useNodes } from '../../data/queries.ts'
import { NodeState } from '../../nodes/node-state.tsx'

const states = ['Failed', 'Skipped']
const shownNodes = 10

/** The failed and skipped nodes, each with its reason. */
export function Incomplete({ operation }: { operation: string }) {
  const { t } = useTranslation()
  const found = useNodes(operation, { states, text: '', after: '' }).data
  if (!found || found.nodes.length === 0) return null
  return (
    <div>
      <h3 className="refit-subtitle">{t('completion.incomplete')}</h3>
      <ul className="refit-waiting">
        {found.nodes.slice(0, shownNodes).map(({ node, state, message, rolledBack }) => (
          <li key={node}>
            <NodeState state={state} compact />{' '}
            {rolledBack && <><Label status="warning" isCompact>{t('nodes.rolledBack')}</Label>{' '}</>}
            <Link to={`/nodes/${encodeURIComponent(node)}`}>{node}</Link> <span>{message}</span>
          </li>
        ))}
      </ul>
      {found.total > shownNodes && <Link to="?state=Failed&state=Skipped#nodes">{t('completion.showIncomplete', { nodes: t('node', { count: found.total }) })}</Link>}
    </div>
  )
}
