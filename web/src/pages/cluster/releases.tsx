import { Label } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { State } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { addCommand } from './add-command.ts'

/** The ClusterReleases that an upgrade can have as its target. */
export function Releases({ state: { releases, nodes } }: { state: State }) {
  const { t } = useTranslation()
  if (releases.length === 0) return <p>{t('cluster.noReleases')} <CommandLine command={addCommand(nodes.versions)} /></p>
  return (
    <ul className="refit-releases">
      {releases.map((release) => (
        <li key={release.name}>
          <b>{release.name}</b> <span>{release.kubernetes}</span>
          {release.verifiedHosts > 0 && <> <Label status="success" isCompact>{t('cluster.verified', { nodes: t('node', { count: release.verifiedHosts }) })}</Label></>}
          {release.rejectedHosts > 0 && <> <Label status="danger" isCompact>{t('cluster.rejected', { nodes: t('node', { count: release.rejectedHosts }) })}</Label></>}
          {release.components && release.components.length > 0 && (
            <div className="refit-muted">{release.components.map(({ name, version }) => `${name} ${version}`).join(', ')}</div>
          )}
          {release.problem && <div><Label status="danger" isCompact>{release.problem}</Label></div>}
        </li>
      ))}
    </ul>
  )
}
