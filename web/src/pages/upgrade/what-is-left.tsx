import { useTranslation } from 'react-i18next'
import type { Operation, State } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { stepPath } from '../../wizard/steps.ts'

/** What remains to be done after an upgrade. */
export function WhatIsLeft({ operation, state }: { operation: Operation; state: State | undefined }) {
  const { t } = useTranslation()
  const { name, nodes, scope, to, phase, components, componentsOnly } = operation
  const newest = state?.operation?.name === name
  const others = newest && !componentsOnly ? state.nodes.versions.filter(({ kubelet }) => kubelet !== to) : []
  const old = others.reduce((sum, { nodes: count }) => sum + count, 0)
  const tasks = [
    nodes.failed > 0 ? t('completion.left.failed') : '',
    nodes.skipped > 0 ? t('completion.left.skipped') : '',
    phase === 'Aborted' && nodes.done < nodes.total ? t('completion.left.aborted', { to }) : '',
    old > 0 && scope === 'ControlPlane' ? t('completion.left.workers', { to }) : '',
    old > 0 ? t('completion.left.versions', { count: old, versions: others.map(({ kubelet }) => kubelet || t('unknown')).join(', ') }) : '',
  ].filter(Boolean)
  const componentsLeft = components !== undefined && components.done < components.total
  if (tasks.length === 0 && !componentsLeft) return <p>{t('completion.left.nothing')}</p>
  const release = state?.releases.find(({ kubernetes }) => kubernetes === to)?.name
  const prepare = stepPath('welcome') + (release ? `?release=${encodeURIComponent(release)}` : '')
  return (
    <div className="refit-stack">
      <ul className="refit-tasks">
        {tasks.map((task) => <li key={task}>{task}</li>)}
        {componentsLeft && <li>{t('completion.left.components')} <CommandLine command="refit components list" /></li>}
      </ul>
      <div><LinkButton to={prepare}>{t('wizard.name')}</LinkButton></div>
    </div>
  )
}
