import { Alert, Button } from '@patternfly/react-core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ProblemError } from '../api/problem.ts'
import { CommandLine } from '../components/command-line.tsx'
import { Remedy } from '../components/remedy.tsx'
import { keys } from '../data/keys.ts'
import { AbortDialog } from './abort-dialog.tsx'
import { applyVerb, type Change } from './apply.ts'
import { refusalOf, verbsOf, type Refusal, type Situation, type Verb } from './verbs.ts'

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
  return (
    <>
      <Result verb={change.variables} change={change.data} error={change.error} />
      <ul className="refit-actions">
        {verbsOf(situation.operation).map((verb) => (
          <Action key={verb} verb={verb} operation={name} refusal={refusalOf(verb, situation)} busy={change.isPending} apply={apply} />
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
  operation: string
  refusal: Refusal | undefined
  busy: boolean
  apply: (verb: Verb) => void
}

function Action({ verb, operation, refusal, busy, apply }: ActionProps) {
  const { t } = useTranslation()
  const help = `${verb}-help`
  return (
    <li>
      <Button
        variant={verb === 'abort' ? 'danger' : 'secondary'} size="sm" isBlock isAriaDisabled={refusal !== undefined || busy}
        aria-describedby={help} onClick={() => apply(verb)}
      >
        {t(`actions.${verb}`)}
      </Button>
      <div>
        <div id={help}>
          {refusal
            ? <b>{t(`actions.disabled.${refusal}`, { verb })}</b>
            : t(`actions.${verb}Help`)}
        </div>
        <CommandLine command={`refit ${verb} ${operation}`} />
      </div>
    </li>
  )
}

function Result({ verb, change, error }: { verb: Verb | undefined; change: Change | undefined; error: Error | null }) {
  const { t } = useTranslation()
  if (verb === undefined) return null
  const name = t(`actions.${verb}`)
  if (error) {
    const problem = error instanceof ProblemError ? error.problem : undefined
    return (
      <Alert isInline variant="danger" title={t('actions.failed', { verb: name })} component="h3" role="alert">
        <p>{problem ? problem.detail ?? problem.title : error.name === 'TimeoutError' ? t('problem.timeout') : t('problem.network')}</p>
        <Remedy remedy={problem?.remedy} />
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
