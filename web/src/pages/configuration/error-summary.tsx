import { Alert, Button } from '@patternfly/react-core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../../api/problem.ts'
import { ProblemDetails } from '../../components/problem-details.tsx'
import { fieldID, type FieldErrors } from '../../wizard/field-errors.ts'

/** What prevents the check: the invalid fields, each with a way to it, or why the request failed. */
export function ErrorSummary({ error, fields }: { error: Error | null; fields: FieldErrors }) {
  const { t } = useTranslation()
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error || fields.size > 0) ref.current?.focus()
  }, [error, fields])
  if (!error && fields.size === 0) return null
  const invalid = fields.size > 0
  return (
    <div ref={ref} tabIndex={-1} className="refit-summary">
      <Alert
        isInline variant="danger" component="h2" role="alert"
        title={invalid ? t('configuration.invalid', { count: fields.size }) : t('configuration.failed')}
      >
        {invalid
          ? <ul>{[...fields].map(([pointer, detail]) => <li key={pointer}><Invalid pointer={pointer} detail={detail} /></li>)}</ul>
          : error && <ProblemDetails error={error} />}
        {error instanceof ProblemError && <p className="refit-muted">{t('problem.requestId', { id: error.problem.requestId })}</p>}
      </Alert>
    </div>
  )
}

/** A field of the page is a link to it. Any other is named by its path. */
function Invalid({ pointer, detail }: { pointer: string; detail: string }) {
  const { t } = useTranslation()
  const element = document.getElementById(fieldID(pointer))
  const name = labelOf(element) || pointer.slice(1).replaceAll('/', '.') || t('configuration.whole')
  return (
    <>
      {element ? <Button variant="link" isInline onClick={() => element.focus()}>{name}</Button> : <b>{name}</b>}: {detail}
    </>
  )
}

/** The name of a field as the user reads it, with the pool that it belongs to. */
function labelOf(element: HTMLElement | null): string {
  const pool = element?.closest('fieldset')?.querySelector('legend')?.textContent
  const label = element && 'labels' in element ? (element as HTMLInputElement).labels?.[0]?.querySelector('.pf-v6-c-form__label-text')?.textContent : undefined
  return [pool, label].filter(Boolean).join(': ')
}
