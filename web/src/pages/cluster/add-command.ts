import type { State } from '../../api/documents.ts'
import { versionParts } from '../../format/version.ts'
import { skewOf } from './skew.ts'

/** The command that adds the ClusterRelease of the next minor version from upstream. */
export function addCommand(versions: State['nodes']['versions']): string {
  const [major, minor] = versionParts(skewOf(versions).sorted[0]?.kubelet ?? '')
  const next = major === undefined || minor === undefined ? 'VERSION' : `v${major}.${minor + 1}`
  return `refit release add ${next} --online`
}
