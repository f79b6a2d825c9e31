import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Check } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { ProblemState } from '../../components/problem-state.tsx'
import { useManifest } from '../../wizard/checks.ts'
import { commandOf, hasFlags, manifestFile } from '../../wizard/command.ts'

/** The same upgrade for the command line, and for kubectl or GitOps. */
export function Elsewhere({ check }: { check: Check }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const manifest = useManifest(check.id, open)
  const address = `/api/v1alpha1/checks/${encodeURIComponent(check.id)}/manifest`
  return (
    <>
      <p><CommandLine command={commandOf('upgrade', check.spec)} /></p>
      {!hasFlags(check.spec) && <p className="refit-muted">{t('plan.fileFirst', { file: manifestFile })}</p>}
      <Disclosure title={t('plan.manifest')} onOpen={() => setOpen(true)}>
        {manifest.error && <ProblemState error={manifest.error} retry={() => void manifest.refetch()} />}
        {manifest.isLoading && <p role="status">{t('loading')}</p>}
        {manifest.data !== undefined && (
          <>
            <div className="refit-row">
              <CopyButton text={manifest.data} label={t('plan.copyManifest')} />
              <a href={address} download={manifestFile}>{t('plan.download', { file: manifestFile })}</a>
            </div>
            <pre className="refit-log" tabIndex={0} role="region" aria-label={t('plan.manifest')}>{manifest.data}</pre>
            <p className="refit-muted">{t('plan.manifestHelp')}</p>
          </>
        )}
      </Disclosure>
    </>
  )
}
