import { useTranslation } from 'react-i18next'
import { useRouteError } from 'react-router'
import { CommandLine } from '../components/command-line.tsx'
import { Heading } from '../components/heading.tsx'

/** A defect of the page. The upgrade continues, so the page shows how to follow it otherwise. */
export function CrashPage() {
  const { t } = useTranslation()
  const error = useRouteError()
  return (
    <main className="refit-main">
      <Heading title={t('problem.crashTitle')} />
      <p>{t('problem.crashBody')} <CommandLine command="refit status" /></p>
      <pre className="refit-log">{error instanceof Error ? error.message : String(error)}</pre>
    </main>
  )
}
