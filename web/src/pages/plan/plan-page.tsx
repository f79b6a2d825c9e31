import { Alert } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { Check, Plan, Report } from '../../api/documents.ts'
import { ProblemError } from '../../api/problem.ts'
import { keepReviewed } from '../../approval/reviewed-plans.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { keys } from '../../data/keys.ts'
import { useClusterState } from '../../data/queries.ts'
import { useCheck } from '../../wizard/checks.ts'
import { CheckedPage } from '../../wizard/checked-page.tsx'
import { clearDraft, keepDraft } from '../../wizard/draft-store.ts'
import { draftOf } from '../../wizard/draft.ts'
import { startOperation } from '../../wizard/start.ts'
import { stepPath } from '../../wizard/steps.ts'
import { WizardPage } from '../../wizard/wizard-page.tsx'
import { permissionRefusal, refusalOfWrite } from '../../writes/refusal.ts'
import { useWriteSituation } from '../../writes/use-write-situation.ts'
import { WriteButton } from '../../writes/write-button.tsx'
import { ChangedPlan } from './changed-plan.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { PlanStages } from './plan-stages.tsx'
import { StartProblem } from './start-problem.tsx'
import { Summary } from './summary.tsx'

/** The last step: what the upgrade does, in which order and why. It starts the upgrade. */
export default function PlanPage() {
  const { t } = useTranslation()
  return (
    <CheckedPage step="plan">
      {(check, report) => report.plan
        ? <Review key={check.id} check={check} report={report} plan={report.plan} />
        : (
            <WizardPage step="plan" check={check.id} reachable="preflight" footer={<LinkButton to={stepPath('preflight', check.id)}>{t('wizard.back')}</LinkButton>}>
              <Alert isInline variant="danger" title={t('preflight.noPlan')} component="h2" />
            </WizardPage>
          )}
    </CheckedPage>
  )
}

function Review({ check, report, plan }: { check: Check; report: Report; plan: Plan }) {
  const { t } = useTranslation()
  const before = useCheck((useLocation().state as { replaced?: string } | null)?.replaced ?? '').data?.report?.plan
  const { data: state } = useClusterState()
  const writes = useWriteSituation()
  const mayNotApprove = permissionRefusal('ApproveOperation', writes.me)
  const start = useStart(check)
  const active = state?.operation && !state.operation.ended ? state.operation.name : undefined
  const footer = (
    <>
      <LinkButton to={stepPath('preflight', check.id)}>{t('wizard.back')}</LinkButton>
      <WriteButton
        refusal={refusalOfWrite('StartOperation', writes)} busy={start.isPending} reason={useReasonNotToStart(check, report)} onClick={start.once}
      >
        {t('start.button', { to: plan.to })}
      </WriteButton>
    </>
  )
  return (
    <WizardPage step="plan" check={check.id} reachable="plan" footer={footer}>
      {start.error && !(start.error instanceof ProblemError && start.error.problem.check) && <StartProblem error={start.error} />}
      {before && <ChangedPlan before={before} after={plan} />}
      <Panel id="summary" title={t('plan.summary')}><Summary plan={plan} report={report} /></Panel>
      {active && <Alert isInline variant="info" title={t('start.queued', { name: active })} component="h2" />}
      {mayNotApprove && (
        <Alert isInline variant="info" title={t('start.needsApproval')} component="h2">
          <p>{t('start.needsApprovalHelp')}</p>
        </Alert>
      )}
      <Panel id="stages" title={t('plan.stages')}><PlanStages plan={plan} /></Panel>
      <div className="refit-columns">
        <Panel id="notes" title={t('plan.decisions')}><Decisions plan={plan} /></Panel>
        <Panel id="elsewhere" title={t('plan.elsewhere')}><Elsewhere check={check} /></Panel>
      </div>
    </WizardPage>
  )
}

/** Starts the upgrade once, and goes on to its page, to the new plan, or to the findings that block it. */
function useStart(check: Check) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const sending = useRef(false)
  const start = useMutation({
    mutationFn: () => startOperation(check),
    onSuccess: ({ name, notes, waitsFor }) => {
      void cache.invalidateQueries({ queryKey: keys.operation(name) })
      void cache.invalidateQueries({ queryKey: keys.operations })
      if (check.report?.plan) keepReviewed(check.report.plan)
      clearDraft()
      void navigate(`/operations/${encodeURIComponent(name)}`, { state: { started: { notes, waitsFor } } })
    },
    onError: (error) => {
      const next = error instanceof ProblemError ? error.problem.check : undefined
      if (!next) return
      cache.setQueryData(keys.check(next.id), next)
      keepDraft(draftOf(next.spec), next.id)
      if (error instanceof ProblemError && error.problem.code === 'blocked') {
        void navigate(stepPath('preflight', next.id), { state: { startRefused: true } })
      } else {
        void navigate(stepPath('plan', next.id), { replace: true, state: { replaced: check.id } })
      }
    },
    onSettled: () => {
      sending.current = false
    },
  })
  // A second click can come before the button shows that it is busy.
  const once = () => {
    if (sending.current) return
    sending.current = true
    start.mutate()
  }
  return { ...start, once }
}

function useReasonNotToStart(check: Check, report: Report): string | undefined {
  const { t } = useTranslation()
  if (check.upToDate) return t('start.upToDate')
  if (report.blocked) return t('start.blocked', { count: report.counts.block })
  return report.counts.deferred > 0 ? t('start.deferred') : undefined
}

function Decisions({ plan: { notes = [], leftOut = [] } }: { plan: Plan }) {
  const { t } = useTranslation()
  if (notes.length === 0 && leftOut.length === 0) return <p className="refit-muted">{t('plan.noDecisions')}</p>
  return (
    <ul className="refit-decisions">
      {notes.map(({ decision, reason }) => <li key={decision}><b>{decision}</b>: {reason}</li>)}
      {leftOut.map(({ node, reason }) => <li key={node}><b>{t('plan.leftOut', { node })}</b>: {reason}</li>)}
    </ul>
  )
}
