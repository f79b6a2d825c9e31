import { Button, Form } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, type FormEvent } from 'react'
import { Navigate, useNavigate, useSearchParams } from 'react-router'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../../api/problem.ts'
import { CommandLine } from '../../components/command-line.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { useCheck, startCheck } from '../../wizard/checks.ts'
import { commandOf } from '../../wizard/command.ts'
import { draftOf, newPool, specOf, type Draft, type PoolDraft } from '../../wizard/draft.ts'
import { changeDraft, keepDraft, useDraft } from '../../wizard/draft-store.ts'
import { FieldErrorsContext, fieldErrorsOf } from '../../wizard/field-errors.ts'
import { invalidFields } from '../../wizard/invalid-fields.ts'
import { stepPath } from '../../wizard/steps.ts'
import { WizardPage } from '../../wizard/wizard-page.tsx'
import { refusalOfWrite } from '../../writes/refusal.ts'
import { useWriteSituation } from '../../writes/use-write-situation.ts'
import { WriteButton } from '../../writes/write-button.tsx'
import { ErrorSummary } from './error-summary.tsx'
import { RadioField } from './fields.tsx'
import { PoolFields } from './pool-fields.tsx'
import { VendorForm } from './vendor-form.tsx'

/** The second step: how the nodes are upgraded. Its end starts the check. */
export default function ConfigurationPage() {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const id = params.get('check') ?? ''
  const { draft, check } = useDraft()
  const checked = useCheck(id === check ? '' : id)
  // A link to a check of another browser or tab has its draft.
  useEffect(() => {
    if (checked.data && id !== check) keepDraft(draftOf(checked.data.spec), id)
  }, [checked.data, check, id])
  if (id !== '' && id !== check && !checked.error) return <p role="status">{t('loading')}</p>
  if (draft.release === '' && draft.kubernetes === '') return <Navigate to={stepPath('welcome')} replace />
  return <Configuration draft={draft} check={id} />
}

const formID = 'configuration-form'

class InvalidFields extends Error {
  readonly fields: ReadonlyMap<string, string>

  constructor(fields: ReadonlyMap<string, string>) {
    super()
    this.fields = fields
  }
}

function Configuration({ draft, check }: { draft: Draft; check: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const cache = useQueryClient()
  const refusal = refusalOfWrite('CreateCheck', useWriteSituation())
  const start = useMutation({
    mutationFn: async () => {
      const invalid = invalidFields(draft, t)
      if (invalid.size > 0) throw new InvalidFields(invalid)
      return startCheck(specOf(draft), cache)
    },
    onSuccess: ({ id }) => {
      keepDraft(draft, id)
      void navigate(stepPath('preflight', id))
    },
  })
  const fields = useMemo(() => fieldsOf(start.error), [start.error])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!refusal && !start.isPending) start.mutate()
  }
  const changePool = (index: number, change: Partial<PoolDraft>) =>
    changeDraft({ pools: draft.pools.map((pool, i) => i === index ? { ...pool, ...change } : pool) })
  const footer = (
    <>
      <LinkButton to={stepPath('welcome')}>{t('wizard.back')}</LinkButton>
      <WriteButton refusal={refusal} busy={start.isPending} form={formID}>{t('wizard.next.configuration')}</WriteButton>
      <span className="refit-muted">{t('configuration.readOnly')}</span>
    </>
  )
  return (
    <WizardPage step="configuration" check={check} reachable={check === '' ? 'configuration' : 'plan'} footer={footer}>
      <p>{t('configuration.lead', { target: draft.release || draft.kubernetes })}</p>
      <ErrorSummary error={start.error instanceof InvalidFields ? null : start.error} fields={fields} />
      <FieldErrorsContext value={fields}>
        <Form id={formID} onSubmit={submit}>
          <Panel id="what" title={t('configuration.what')}>
            <div className="refit-fields">
              <RadioField
                pointer="/scope" label={t('configuration.scope')} value={draft.scope} change={(scope) => changeDraft({ scope })}
                options={(['All', 'ControlPlane', 'Workers'] as const).map((value) => ({
                  value, label: t(`configuration.scopes.${value}`), help: t(`configuration.scopesHelp.${value}`),
                }))}
              />
              <RadioField
                pointer="/rollback" label={t('configuration.rollback')} value={draft.rollback} change={(rollback) => changeDraft({ rollback })}
                options={(['Auto', 'Manual'] as const).map((value) => ({
                  value, label: t(`configuration.rollbacks.${value}`), help: t(`configuration.rollbacksHelp.${value}`),
                }))}
              />
            </div>
          </Panel>
          {draft.scope !== 'ControlPlane' && (
            <Panel id="pools" title={t('configuration.pools')}>
              <div className="refit-stack">
                {draft.pools.map((pool, i) => (
                  <PoolFields
                    key={i} index={i} pool={pool} only={draft.pools.length === 1} change={(change) => changePool(i, change)}
                    remove={() => changeDraft({ pools: draft.pools.filter((_, other) => other !== i) })}
                  />
                ))}
                <div className="refit-row">
                  <Button variant="secondary" onClick={() => changeDraft({ pools: [newPool(freeName(draft.pools)), ...draft.pools] })}>{t('configuration.addPool')}</Button>
                  <span className="refit-muted">{t('configuration.addPoolHelp')}</span>
                </div>
              </div>
            </Panel>
          )}
        </Form>
      </FieldErrorsContext>
      <VendorForm release={draft.release} />
      <p className="refit-muted">{t('wizard.command')} <CommandLine command={commandOf('check', specOf(draft))} /></p>
    </WizardPage>
  )
}

function fieldsOf(error: Error | null) {
  if (error instanceof InvalidFields) return error.fields
  return fieldErrorsOf(error instanceof ProblemError ? error.problem.errors ?? [] : [])
}

function freeName(pools: PoolDraft[]): string {
  for (let i = pools.length; ; i++) {
    const name = `pool-${i}`
    if (pools.every((pool) => pool.name !== name)) return name
  }
}
