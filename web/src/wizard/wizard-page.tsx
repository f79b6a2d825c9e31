import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Heading } from '../components/heading.tsx'
import { useClusterState } from '../data/queries.ts'
import { StepLinks } from './step-links.tsx'
import type { Step } from './steps.ts'

interface WizardPageProps {
  step: Step
  check: string
  reachable: Step
  label?: ReactNode
  /** The way back and on, which stay in sight. */
  footer: ReactNode
  children: ReactNode
}

/** A step of the wizard: where the user is, the step, and the way on. */
export function WizardPage({ step, check, reachable, label, footer, children }: WizardPageProps) {
  const { t } = useTranslation()
  const { data: state } = useClusterState()
  const title = t(`wizard.title.${step}`)
  const crumbs = [{ text: t('cluster.title', { name: state?.cluster ?? '' }), to: '/' }]
  return (
    <>
      <Heading title={title} tab={`${title} · ${t('wizard.name')}`} crumbs={crumbs} here={t('wizard.name')} label={label} />
      <StepLinks current={step} check={check} reachable={reachable} />
      {children}
      <footer className="refit-wizard-footer refit-row">{footer}</footer>
    </>
  )
}
