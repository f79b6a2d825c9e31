import { Label, type LabelProps } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import { Cell, Column, Columns, Table, TableRow, TableRows } from '../../components/table.tsx'
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
    <Table label={t('nodePage.steps')}>
      <Columns>
        <Column>{t('nodePage.column.step')}</Column>
        <Column>{t('nodePage.column.state')}</Column>
        <Column>{t('nodePage.column.duration')}</Column>
        <Column className="refit-wide-only">{t('nodePage.column.started')}</Column>
      </Columns>
      <TableRows>
        {steps.map((step) => (
          <TableRow key={step.name} current={step.state === 'Running'}>
            <Cell wrap="anywhere">{step.name}</Cell>
            <Cell><Label isCompact {...(looks[step.state] ?? { color: 'grey' })}>{step.state in en.nodePage.step ? t(`nodePage.step.${step.state as 'Done'}`) : step.state}</Label></Cell>
            <Cell className="refit-clock">{durationOf(step, asOf)}</Cell>
            <Cell className="refit-clock refit-wide-only">{step.startTime ? timeOfDay(step.startTime) : ''}</Cell>
          </TableRow>
        ))}
      </TableRows>
    </Table>
  )
}

function durationOf({ startTime, completionTime }: ExplainStep, asOf: number): string {
  if (!startTime) return ''
  return stopwatch((completionTime ? Date.parse(completionTime) : asOf) - Date.parse(startTime))
}
