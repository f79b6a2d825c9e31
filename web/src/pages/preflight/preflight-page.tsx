import { Alert } from '@patternfly/react-core'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { Check, Finding, Report, WaiverSpec } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { ProblemState } from '../../components/problem-state.tsx'
import { ReasonDialog } from '../../components/reason-dialog.tsx'
import { CheckedPage, useCheckAgain } from '../../wizard/checked-page.tsx'
import { commandOf } from '../../wizard/command.ts'
import { stepPath } from '../../wizard/steps.ts'
import { WizardPage } from '../../wizard/wizard-page.tsx'
import { refusalOfWrite } from '../../writes/refusal.ts'
import { useWriteSituation } from '../../writes/use-write-situation.ts'
import { WriteButton } from '../../writes/write-button.tsx'
import { Findings, FindingText, nameOf } from './findings.tsx'
import { findingsBySection } from './sections.ts'
import { Verdict } from './verdict.tsx'

/** The third step: what prevents the upgrade, and what the user can do about it. */
export default function PreflightPage() {
  return <CheckedPage step="preflight">{(check, report) => <Preflight key={check.id} check={check} report={report} />}</CheckedPage>
}

function Preflight({ check, report }: { check: Check; report: Report }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const refused = (useLocation().state as { startRefused?: boolean } | null)?.startRefused
  const refusal = refusalOfWrite('CreateCheck', useWriteSituation())
  const [waiving, setWaiving] = useState<Finding>()
  const again = useCheckAgain('preflight')
  const waivers = check.spec.waivers ?? []
  const checkWith = (next: WaiverSpec[]) => again.mutate({ ...check.spec, waivers: next })
  const waive = (finding: Finding, reason: string) =>
    checkWith([...waivers, { check: finding.check, ...(finding.object && { object: finding.object }), reason }])
  const restore = (finding: Finding) =>
    checkWith(waivers.filter((waiver) => waiver.check !== finding.check || (waiver.object ?? '') !== (finding.waived?.object ?? '')))
  const enabled = !refusal && !again.isPending
  const footer = (
    <>
      <LinkButton to={stepPath('configuration', check.id)}>{t('wizard.back')}</LinkButton>
      <WriteButton
        refusal={undefined} busy={false} reason={report.plan ? undefined : t('preflight.noPlan')} variant={report.blocked ? 'secondary' : 'primary'}
        onClick={() => void navigate(stepPath('plan', check.id))}
      >
        {t('wizard.next.preflight')}
      </WriteButton>
      <WriteButton variant={report.blocked ? 'primary' : 'secondary'} refusal={refusal} busy={again.isPending} onClick={() => again.mutate(check.spec)}>
        {t('preflight.again')}
      </WriteButton>
    </>
  )
  return (
    <WizardPage step="preflight" check={check.id} reachable={report.plan ? 'plan' : 'preflight'} footer={footer}>
      {refused && <Alert isInline variant="warning" title={t('preflight.startRefused')} component="h2" role="alert" />}
      <Verdict check={check} report={report} />
      {again.error && <ProblemState error={again.error} />}
      {findingsBySection(report.findings).map(([section, findings]) => (
        <Panel key={section} id={section} title={t(`preflight.section.${section}`, { count: findings.length })}>
          <p className="refit-muted refit-section-help">{t(`preflight.sectionHelp.${section}`)}</p>
          <Findings findings={findings} enabled={enabled} waive={setWaiving} restore={restore} />
        </Panel>
      ))}
      <p className="refit-muted">{t('wizard.command')} <CommandLine command={commandOf('check', check.spec)} /></p>
      {waiving && (
        <ReasonDialog
          title={t('waive.title', { name: nameOf(waiving) })} confirm={t('waive.confirmCheck')} close={() => setWaiving(undefined)}
          waive={(reason) => {
            setWaiving(undefined)
            waive(waiving, reason)
          }}
        >
          <FindingText finding={{ ...waiving, remedy: '' }} />
          <p>{t('waive.help')}</p>
        </ReasonDialog>
      )}
    </WizardPage>
  )
}
