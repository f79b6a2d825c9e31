import { useTranslation } from 'react-i18next'
import type { Operation, State } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { stepPath } from '../../wizard/steps.ts'

/** What remains to be done after an upgrade, and how to report a problem with it. */
export function WhatIsLeft({ operation, state }: { operation: Operation; state: State | undefined }) {
  const { t } = useTranslation()
  const { name, nodes, scope, to, phase } = operation
  const newest = state?.operation?.name === name
  const others = newest ? state.nodes.versions.filter(({ kubelet }) => kubelet !== to) : []
  const old = others.reduce((sum, { nodes: count }) => sum + count, 0)
  const tasks = [
    nodes.failed > 0 ? t('completion.left.failed') : '',
    nodes.skipped > 0 ? t('completion.left.skipped') : '',
    phase === 'Aborted' && nodes.done < nodes.total ? t('completion.left.aborted', { to }) : '',
    old > 0 && scope === 'ControlPlane' ? t('completion.left.workers', { to }) : '',
    old > 0 ? t('completion.left.versions', { count: old, versions: others.map(({ kubelet }) => kubelet || t('unknown')).join(', ') }) : '',
  ].filter(Boolean)
  return (
    <div className="refit-stack">
      {tasks.length > 0
        ? (
            <>
              <ul className="refit-tasks">{tasks.map((task) => <li key={task}>{task}</li>)}</ul>
              <div><LinkButton to={stepPath('welcome')}>{t('wizard.name')}</LinkButton></div>
            </>
          )
        : <p>{t('completion.left.nothing')}</p>}
      <p>{t('completion.support')} <CommandLine command="refit support-bundle" /></p>
    </div>
  )
}
