import { Label, type LabelProps } from '@patternfly/react-core'
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import { useTranslation } from 'react-i18next'
import type { ExplainStep } from '../../api/documents.ts'
import { timeOfDay } from '../../format/moment.ts'
import { stopwatch } from '../../format/stopwatch.ts'
import en from '../../i18n/en.json'

const looks: Record<string, Pick<LabelProps, 'status' | 'color'>> = {
  Running: { color: 'blue' }, Done: { status: 'success' }, Failed: { status: 'danger' }, Undone: { status: 'warning' },
}

/** The steps of the agent that have started, in order. */
export function Steps({ steps, asOf }: { steps: ExplainStep[]; asOf: number }) {
  const { t } = useTranslation()
  if (steps.length === 0) return <p className="refit-muted">{t('nodePage.noSteps')}</p>
  return (
    <Table variant="compact" gridBreakPoint="" aria-label={t('nodePage.steps')}>
      <Thead>
        <Tr>
          <Th>{t('nodePage.column.step')}</Th>
          <Th>{t('nodePage.column.state')}</Th>
          <Th>{t('nodePage.column.duration')}</Th>
          <Th visibility={['hidden', 'visibleOnSm']}>{t('nodePage.column.started')}</Th>
        </Tr>
      </Thead>
      <Tbody>
        {steps.map((step) => (
          <Tr key={step.name} {...(step.state === 'Running' && { 'aria-current': 'step' })}>
            <Td modifier="breakWord">{step.name}</Td>
            <Td><Label isCompact {...(looks[step.state] ?? { color: 'grey' })}>{step.state in en.nodePage.step ? t(`nodePage.step.${step.state as 'Done'}`) : step.state}</Label></Td>
            <Td className="refit-clock">{durationOf(step, asOf)}</Td>
            <Td visibility={['hidden', 'visibleOnSm']} className="refit-clock">{step.startTime ? timeOfDay(step.startTime) : ''}</Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  )
}

function durationOf({ startTime, completionTime }: ExplainStep, asOf: number): string {
  if (!startTime) return ''
  return stopwatch((completionTime ? Date.parse(completionTime) : asOf) - Date.parse(startTime))
}
