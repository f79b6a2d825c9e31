import { Label, type LabelProps } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import en from '../i18n/en.json'

/** The states of a node in an upgrade, the most urgent first. */
export const nodeStates = ['Failed', 'Refused', 'Active', 'Waiting', 'Skipped', 'Done', 'LeftOut', 'Idle'] as const

const looks: Record<string, Pick<LabelProps, 'status' | 'color'>> = {
  Failed: { status: 'danger' }, Refused: { status: 'danger' }, Skipped: { status: 'warning' }, Done: { status: 'success' },
  Active: { color: 'blue' }, Waiting: { color: 'grey' }, LeftOut: { color: 'grey' }, Idle: { color: 'grey' },
}

export function useNodeState() {
  const { t } = useTranslation()
  return (state: string) => state in en.nodes.state ? t(`nodes.state.${state as 'Idle'}`) : state
}

export function NodeState({ state, compact = false }: { state: string; compact?: boolean }) {
  return <Label {...(looks[state] ?? { color: 'grey' })} isCompact={compact}>{useNodeState()(state)}</Label>
}
