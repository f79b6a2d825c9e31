import { Alert } from '@patternfly/react-core'
import { useEffect } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { useTranslation } from 'react-i18next'
import type { State } from '../../api/documents.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { Panel } from '../../components/panel.tsx'
import { usePhase } from '../../components/phase.ts'
import { ProblemState } from '../../components/problem-state.tsx'
import { useClusterState } from '../../data/queries.ts'
import { changeDraft, useDraft } from '../../wizard/draft-store.ts'
import { stepPath } from '../../wizard/steps.ts'
import { WizardPage } from '../../wizard/wizard-page.tsx'
import { WriteButton } from '../../writes/write-button.tsx'
import { addCommand } from '../cluster/add-command.ts'
import { NotInstalled } from '../cluster/not-installed.tsx'
import { Versions } from '../cluster/versions.tsx'
import { offersOf } from './hops.ts'
import { ReleaseChoice } from './release-choice.tsx'
import { Upload } from './upload.tsx'

/** The first step: the version to upgrade to. A link may choose it, with ?release=NAME. */
export default function WelcomePage() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const state = useClusterState()
  const { draft } = useDraft()
  const asked = params.get('release')
  useEffect(() => {
    if (!asked) return
    choose(asked)
    setParams({}, { replace: true }) // another choice must survive a reload
  }, [asked, setParams])
  const chosen = draft.release !== '' || draft.kubernetes !== ''
  const footer = (
    <WriteButton refusal={undefined} busy={false} reason={chosen ? undefined : t('welcome.choose')} onClick={() => void navigate(stepPath('configuration'))}>
      {t('wizard.next.welcome')}
    </WriteButton>
  )
  return (
    <WizardPage step="welcome" check="" reachable={chosen ? 'configuration' : 'welcome'} footer={footer}>
      <p>{t('welcome.lead')}</p>
      {state.data
        ? <Target state={state.data} chosen={draft.release} />
        : state.error ? <ProblemState error={state.error} retry={() => void state.refetch()} /> : <p role="status">{t('loading')}</p>}
    </WizardPage>
  )
}

function choose(release: string) {
  changeDraft({ release, kubernetes: '' })
}

function Target({ state, chosen }: { state: State; chosen: string }) {
  const { t } = useTranslation()
  const phase = usePhase()
  const { releases, nodes, operation } = state
  if (state.notInstalled) return <NotInstalled cluster={state.cluster} />
  return (
    <>
      {operation && !operation.ended && (
        <Alert isInline variant="warning" title={t('welcome.running', { name: operation.name, phase: phase(operation.phase) })} component="h2">
          <p>{t('welcome.runningHelp')} <Link to={`/operations/${encodeURIComponent(operation.name)}`}>{t('welcome.showRunning')}</Link></p>
        </Alert>
      )}
      <div className="refit-columns">
        <div className="refit-stack">
          <Panel id="target" title={t('welcome.target')} of={state}>
            {releases.length > 0
              ? <ReleaseChoice offers={offersOf(releases, nodes.versions)} chosen={chosen} choose={choose} />
              : <p>{t('welcome.noReleases')} <CommandLine command={addCommand(nodes.versions)} /></p>}
          </Panel>
          <Panel id="add" title={t('upload.title')}>
            {releases.length === 0 ? <Upload added={({ name }) => choose(name)} /> : (
              <Disclosure title={t('upload.toggle')}><Upload added={({ name }) => choose(name)} /></Disclosure>
            )}
          </Panel>
        </div>
        <Panel id="now" title={t('welcome.now')} of={state}><Versions nodes={nodes} /></Panel>
      </div>
    </>
  )
}
