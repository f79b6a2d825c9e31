import { Label, type LabelProps } from '@patternfly/react-core'
import BanIcon from '@patternfly/react-icons/dist/esm/icons/ban-icon'
import HourglassHalfIcon from '@patternfly/react-icons/dist/esm/icons/hourglass-half-icon'
import InProgressIcon from '@patternfly/react-icons/dist/esm/icons/in-progress-icon'
import PauseCircleIcon from '@patternfly/react-icons/dist/esm/icons/pause-circle-icon'
import type { ReactElement } from 'react'
import { usePhase } from './phase.ts'

const looks: Record<string, Pick<LabelProps, 'status' | 'color'> & { icon?: ReactElement }> = {
  Planning: { color: 'grey', icon: <HourglassHalfIcon /> },
  AwaitingApproval: { status: 'warning', icon: <HourglassHalfIcon /> },
  Waiting: { color: 'yellow', icon: <HourglassHalfIcon /> },
  Running: { color: 'blue', icon: <InProgressIcon /> },
  Paused: { color: 'yellow', icon: <PauseCircleIcon /> },
  Stalled: { status: 'danger' },
  Aborting: { status: 'warning' },
  Succeeded: { status: 'success' },
  Aborted: { color: 'grey', icon: <BanIcon /> },
}

export function PhaseLabel({ phase, compact = false }: { phase: string; compact?: boolean }) {
  const text = usePhase()(phase)
  return <Label {...(looks[phase] ?? { color: 'grey' })} isCompact={compact} className="refit-phase">{text}</Label>
}
