import { useTranslation } from 'react-i18next'
import { CommandLine } from '../components/command-line.tsx'
import { ProblemDetails } from '../components/problem-details.tsx'
import { refusalOfWrite } from '../writes/refusal.ts'
import { useWriteSituation } from '../writes/use-write-situation.ts'
import { WriteButton } from '../writes/write-button.tsx'
import { failureOf, useBundle, useCollect } from './bundles.ts'
import { Collected } from './collected.tsx'
import { keptBundle } from './kept.ts'

/** Collects a support bundle about an operation, and offers its file. */
export function SupportBundle({ operation }: { operation: string }) {
  const { t } = useTranslation()
  const collect = useCollect(operation)
  const bundle = useBundle(collect.data?.id ?? keptBundle(operation))
  const refusal = refusalOfWrite('CreateSupportBundle', useWriteSituation())
  const now = collect.isPending ? undefined : bundle.data
  // A bundle of a former session is not known any more: another one can be collected.
  const failure = collect.error ?? (now && failureOf(now))
  return (
    <div className="refit-stack">
      <p>{t('bundle.help')}</p>
      {failure && <div role="alert"><ProblemDetails error={failure} /></div>}
      {now?.state === 'Running' && <p role="status">{now.activity ?? t('bundle.starting')}</p>}
      {now && <Collected bundle={now} />}
      <div className="refit-row">
        <WriteButton variant="secondary" refusal={refusal} busy={collect.isPending || now?.state === 'Running'} onClick={() => collect.mutate()}>
          {t('bundle.collect')}
        </WriteButton>
      </div>
      <p className="refit-muted">{t('bundle.command')} <CommandLine command={`refit support-bundle ${operation}`} /></p>
    </div>
  )
}
