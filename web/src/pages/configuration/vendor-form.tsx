import { Alert, Button, Form } from '@patternfly/react-core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Config, FormGroup } from '../../api/documents.ts'
import { statusOf } from '../../api/problem.ts'
import { Panel } from '../../components/panel.tsx'
import { ProblemDetails } from '../../components/problem-details.tsx'
import { FieldErrorsContext } from '../../wizard/field-errors.ts'
import { refusalOfWrite } from '../../writes/refusal.ts'
import { useWriteSituation } from '../../writes/use-write-situation.ts'
import { WriteButton } from '../../writes/write-button.tsx'
import { useAnswers } from './answers.ts'
import { ErrorSummary } from './error-summary.tsx'
import { FormItemField } from './form-item-field.tsx'
import { useConfig } from './config.ts'

/** The form of the publisher of a ClusterRelease. Most ClusterReleases have none. */
export function VendorForm({ release }: { release: string }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useConfig(release)
  const [reads, setReads] = useState(0)
  if (error) {
    if (statusOf(error) === 404) return null
    return (
      <Alert isInline variant="warning" component="h2" title={t('form.unavailable')}>
        <ProblemDetails error={error} />
        <p>{t('form.optional')}</p>
      </Alert>
    )
  }
  if (!data?.config.form) return null
  const again = () => void refetch().then(() => setReads((n) => n + 1))
  return <Answering key={`${release} ${reads}`} config={data.config} groups={data.config.form.groups} etag={data.etag} again={again} />
}

const formID = 'vendor-form'

interface AnsweringProps {
  config: Config
  groups: FormGroup[]
  etag: string
  /** Discards what was typed, and reads the answers again. */
  again: () => void
}

function Answering({ config, groups, etag, again }: AnsweringProps) {
  const { t } = useTranslation()
  const answers = useAnswers(config, etag)
  const { rendered, save, fields } = answers
  const refusal = refusalOfWrite('PutConfig', useWriteSituation())
  const shown = new Set(rendered.items)
  return (
    <Panel id="vendor" title={t('form.title')}>
      <Form
        id={formID} aria-labelledby="vendor"
        onSubmit={(event) => {
          event.preventDefault()
          if (!refusal && !save.isPending) save.mutate()
        }}
      >
        <p>{t('form.lead', { release: config.release })}</p>
        {config.trust === 'Unverified' && <Alert isInline variant="warning" component="h3" title={t('form.unverified', { key: config.keyID })} />}
        {config.pending && config.pending.length > 0 && (
          <Alert isInline variant="warning" component="h3" title={t('form.pending', { components: config.pending.join(', ') })} />
        )}
        {config.savedFor && config.savedFor !== config.release && <p>{t('form.savedFor', { release: config.savedFor })}</p>}
        <FieldErrorsContext value={fields}>
          <ErrorSummary error={save.error} fields={answers.summary} />
          {groups.filter(({ name }) => rendered.groups.includes(name)).map((group) => (
            <fieldset key={group.name} className="refit-pool">
              <legend><b>{group.title}</b></legend>
              {group.description && <p>{group.description}</p>}
              <div className="refit-fields">
                {group.items.filter(({ name }) => shown.has(name)).map((item) => (
                  <FormItemField
                    key={item.name} item={item} value={answers.value(item)} stored={config.passwords?.includes(item.name) ?? false}
                    change={(value) => answers.change(item, value)}
                  />
                ))}
              </div>
            </fieldset>
          ))}
        </FieldErrorsContext>
        <div className="refit-row">
          <WriteButton refusal={refusal} busy={save.isPending} variant="secondary" form={formID}>{t('form.save')}</WriteButton>
          {statusOf(save.error) === 412 && <Button variant="link" isInline onClick={again}>{t('form.again')}</Button>}
          <span role="status" className="refit-muted">
            {answers.failed ? t('form.notEvaluated') : answers.changed ? t('form.unsaved') : config.savedFor ? t('form.saved') : t('form.optional')}
          </span>
        </div>
      </Form>
    </Panel>
  )
}
