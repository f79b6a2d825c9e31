import { useEffect, type ComponentType } from 'react'
import { Navigate, useParams } from 'react-router'
import ConfigurationPage from '../pages/configuration/configuration-page.tsx'
import { NotFoundPage } from '../pages/not-found-page.tsx'
import PlanPage from '../pages/plan/plan-page.tsx'
import PreflightPage from '../pages/preflight/preflight-page.tsx'
import WelcomePage from '../pages/welcome/welcome-page.tsx'
import { stepPath, steps, type Step } from './steps.ts'

const pages: Record<Step, ComponentType> = {
  welcome: WelcomePage, configuration: ConfigurationPage, preflight: PreflightPage, plan: PlanPage,
}

/** The steps of the wizard. They are loaded together: who opens one opens the others. */
export default function WizardRoute() {
  const { step } = useParams()
  // The next step begins at its top. Another check of the same step does not move the page.
  useEffect(() => {
    document.getElementById('content')?.scrollTo(0, 0)
  }, [step])
  if (step === undefined) return <Navigate to={stepPath('welcome')} replace />
  const known = steps.find((one) => one === step)
  if (known === undefined) return <NotFoundPage />
  const Page = pages[known]
  return <Page key={known} />
}
