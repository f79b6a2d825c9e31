import { Alert, Button } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Change, Operation } from '../api/documents.ts'
import { CommandLine } from '../components/command-line.tsx'
import { ProblemDetails } from '../components/problem-details.tsx'
import { keys } from '../data/keys.ts'
import type { Refusal } from '../writes/refusal.ts'
import { Refused } from '../writes/refused.tsx'
import { AbortDialog } from './abort-dialog.tsx'
import { applyVerb } from './apply.ts'
import { refusalOf, verbsOf, type Situation, type Verb } from './verbs.ts'

const commonReason = 'actions-refusal'

/** What the user can do with an operation, here or on the command line. */
export function Actions(situation: Situation) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const [aborting, setAborting] = useState(false)
  const name = situation.operation.name
  const change = useMutation({
    mutationFn: (verb: Verb) => applyVerb(name, verb),
    onSettled: () => void cache.invalidateQueries({ queryKey: keys.operation(name) }),
  })
  const apply = (verb: Verb) => verb === 'abort' ? setAborting(true) : change.mutate(verb)
  const offered = verbsOf(situation.operation).map((verb) => ({ verb, refusal: refusalOf(verb, situation) }))
  const first = offered[0]?.refusal
  const common = first && offered.every(({ refusal }) => refusal?.reason === first.reason) ? first : undefined
  return (
    <>
      <Result verb={change.variables} change={change.data} error={change.error} />
      {common && <p id={commonReason} className="refit-refusal"><Refused refusal={common} /></p>}
      <ul className="refit-actions">
        {offered.map(({ verb, refusal }) => (
          <Action
            key={verb} verb={verb} operation={situation.operation} refusal={refusal} shown={!common} busy={change.isPending} apply={apply}
          />
        ))}
      </ul>
      {aborting && (
        <AbortDialog name={name} close={() => setAborting(false)} confirm={() => {
          setAborting(false)
          change.mutate('abort')
        }} />
      )}
      <span className="pf-v6-screen-reader" role="status">{change.isPending ? t('loading') : ''}</span>
    </>
  )
}

interface ActionProps {
  verb: Verb
  operation: Operation
  refusal: Refusal | undefined
  /** Whether the refusal is shown here, and not once for all verbs. */
  shown: boolean
  busy: boolean
  apply: (verb: Verb) => void
}

function Action({ verb, operation, refusal, shown, busy, apply }: ActionProps) {
  const { t } = useTranslation()
  const help = `${verb}-help`
  const next = verb === 'retry' ? operation.failures.length > 0 : verb === 'resume'
  return (
    <li>
      <Button
        variant={verb === 'abort' ? 'danger' : next ? 'primary' : 'secondary'} size="sm" isBlock isAriaDisabled={refusal !== undefined || busy}
        aria-describedby={refusal && !shown ? commonReason : help} onClick={() => apply(verb)}
      >
        {t(`actions.${verb}`)}
      </Button>
      <div>
        <div id={help}>{refusal && shown ? <span className="refit-refusal"><Refused refusal={refusal} /></span> : t(`actions.${verb}Help`)}</div>
        <CommandLine command={`refit ${verb} ${operation.name}`} />
      </div>
    </li>
  )
}

function Result({ verb, change, error }: { verb: Verb | undefined; change: Change | undefined; error: Error | null }) {
  const { t } = useTranslation()
  if (verb === undefined) return null
  const name = t(`actions.${verb}`)
  if (error) {
    return (
      <Alert isInline variant="danger" title={t('actions.failed', { verb: name })} component="h3" role="alert">
        <ProblemDetails error={error} />
      </Alert>
    )
  }
  if (!change) return null
  return (
    <Alert
      isInline variant={change.changed ? 'success' : 'info'} component="h3" role="status"
      title={change.changed ? t('actions.done', { verb: name }) : t('actions.unchanged')}
    >
      {change.message}
    </Alert>
  )
}
