import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'
import { stepPath, steps, type Step } from './steps.ts'

interface StepLinksProps {
  current: Step
  check: string
  /** The last step that can be opened. */
  reachable: Step
}

/** The steps of the wizard. Those that need an earlier one first are no links. */
export function StepLinks({ current, check, reachable }: StepLinksProps) {
  const { t } = useTranslation()
  const last = steps.indexOf(reachable)
  return (
    <nav aria-label={t('wizard.steps')}>
      <ol className="refit-steps">
        {steps.map((step, i) => (
          <li key={step} className={i < steps.indexOf(current) ? 'refit-step-done' : undefined}>
            {i <= last || step === current
              ? <Link to={stepPath(step, check)} aria-current={step === current ? 'step' : undefined}>{t(`wizard.step.${step}`)}</Link>
              : <span className="refit-muted">{t(`wizard.step.${step}`)}</span>}
          </li>
        ))}
      </ol>
    </nav>
  )
}
