import type { ClusterUpgradeSpec } from '../api/documents.ts'
import { defaultPool } from './draft.ts'

/** The file that a command reads if its flags cannot express the upgrade. */
export const manifestFile = 'upgrade.yaml'

/** The command that does the same as the pages. */
export function commandOf(verb: 'check' | 'upgrade', spec: ClusterUpgradeSpec): string {
  if (!hasFlags(spec)) return `refit ${verb} -f ${manifestFile}`
  const { target, scope, nodeSelector = {}, pools = [], waivers = [] } = spec
  const labels = Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`).join(',')
  const share = pools[0]?.maxUnavailable
  return [
    `refit ${verb}`,
    target.kubernetes ? `--to ${target.kubernetes}` : `--release ${quote(target.release ?? '')}`,
    scope && scope !== 'All' ? `--scope ${scope}` : '',
    labels && `--node-selector ${quote(labels)}`,
    share !== undefined && share !== 1 ? `--max-unavailable ${quote(String(share))}` : '',
    ...waivers.map(({ check, object, reason }) => `--waive ${quote(`${check}${object ? `/${object}` : ''}=${reason}`)}`),
  ].filter(Boolean).join(' ')
}

/** Whether the flags of the command line express a spec, or only a manifest does. */
export function hasFlags({ pools = [], rollback, approval, backup, abandonedNodes }: ClusterUpgradeSpec): boolean {
  if ((rollback && rollback !== 'Auto') || approval === 'None' || backup || abandonedNodes?.length) return false
  return pools.every(({ name, canary, drain }) => name === defaultPool && !canary && isUsualDrain(drain))
}

function isUsualDrain(drain: NonNullable<ClusterUpgradeSpec['pools']>[number]['drain']): boolean {
  const { when = 'MinorReleases', timeout = '15m', onBlocked = 'Wait' } = drain ?? {}
  return when === 'MinorReleases' && /^15m(0s)?$/.test(timeout) && onBlocked === 'Wait'
}

/** Quotes an argument for a shell where it needs that. */
export function quote(argument: string): string {
  return /^[\w./:=,%+-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}
