import { Spinner } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Navigate, useSearchParams } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { Check, ClusterUpgradeSpec, Report } from '../api/documents.ts'
import { statusOf } from '../api/problem.ts'
import { ProblemState } from '../components/problem-state.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { Elapsed } from '../components/elapsed.tsx'
import { useNow } from '../live/clock.ts'
import { refusalOfWrite } from '../writes/refusal.ts'
import { useWriteSituation } from '../writes/use-write-situation.ts'
import { WriteButton } from '../writes/write-button.tsx'
import { failureOf, startCheck, useCheck } from './checks.ts'
import { draftOf, specOf } from './draft.ts'
import { currentDraft, keepDraft } from './draft-store.ts'
import { stepPath, type Step } from './steps.ts'
import { WizardPage } from './wizard-page.tsx'

interface CheckedPageProps {
  step: Step & ('preflight' | 'plan')
  /** Renders the page of a check that has a report. */
  children: (check: Check, report: Report) => ReactNode
}

/** A step that shows a check. It follows one that runs, and offers to repeat one that is gone. */
export function CheckedPage({ step, children }: CheckedPageProps) {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const id = params.get('check') ?? ''
  const { draft, check: draftCheck } = currentDraft()
  const found = useCheck(id)
  const check = found.data
  if (id === '') return <Navigate to={draftCheck ? stepPath(step, draftCheck) : stepPath('welcome')} replace />
  if (check?.state === 'Complete' && check.report) return children(check, check.report)
  const spec = check?.spec ?? (draftCheck === id ? specOf(draft) : undefined)
  const gone = statusOf(found.error) === 404
  return (
    <WizardPage step={step} check={id} reachable="preflight" footer={<Footer id={id} spec={check?.state === 'Running' ? undefined : spec} step={step} />}>
      {check?.state === 'Failed' && <ProblemState title={t('preflight.failed')} error={failureOf(check)} />}
      {check?.state === 'Running' && <Running check={check} />}
      {!check && found.error && (
        <ProblemState
          error={found.error} title={gone ? t('preflight.gone') : undefined} {...(!gone && { retry: () => void found.refetch() })}
        />
      )}
      {!check && !found.error && <p role="status">{t('loading')}</p>}
    </WizardPage>
  )
}

function Running({ check }: { check: Check }) {
  const { t } = useTranslation()
  const now = useNow()
  return (
    <div className="refit-row" role="status">
      <Spinner size="lg" aria-label={t('loading')} />
      <div>
        <b>{t('preflight.running')}</b> <Elapsed since={check.startTime} asOf={now} />
        <p className="refit-muted">{check.part ? t('preflight.part', { part: check.part }) : t('preflight.runningHelp')}</p>
      </div>
    </div>
  )
}

/** Checks the same upgrade again, and opens the new check. */
export function useCheckAgain(step: 'preflight' | 'plan') {
  const cache = useQueryClient()
  const [, setParams] = useSearchParams()
  return useMutation({
    mutationFn: (spec: ClusterUpgradeSpec) => startCheck(spec, cache),
    onSuccess: ({ id, spec }) => {
      keepDraft(draftOf(spec), id)
      setParams({ check: id }, { replace: step === 'plan' })
    },
  })
}

/** The way back, and the same check once more. */
function Footer({ id, spec, step }: { id: string; spec: ClusterUpgradeSpec | undefined; step: 'preflight' | 'plan' }) {
  const { t } = useTranslation()
  const refusal = refusalOfWrite('CreateCheck', useWriteSituation())
  const again = useCheckAgain(step)
  return (
    <>
      <LinkButton to={stepPath('configuration', id)}>{t('wizard.back')}</LinkButton>
      {spec && <WriteButton refusal={refusal} busy={again.isPending} onClick={() => again.mutate(spec)}>{t('preflight.again')}</WriteButton>}
      {again.error && <ProblemState error={again.error} />}
    </>
  )
}
