import {
  Alert, Button, Form, FormGroup, FormHelperText, HelperText, HelperTextItem, TextInput,
} from '@patternfly/react-core'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { ProblemError, statusOf } from '../api/problem.ts'
import { CommandLine } from '../components/command-line.tsx'
import { Remedy } from '../components/remedy.tsx'
import { signIn } from './api.ts'
import { codeSignIn } from './code-sign-in.ts'

/** Signs in with a token. The token is kept nowhere in the page. */
export function TokenForm({ done }: { done: () => void }) {
  const { t } = useTranslation()
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (token.trim() === '') return setError(new Error(t('session.tokenRequired')))
    codeSignIn.set({ state: 'none' }) // a code that failed does not matter any more
    setBusy(true)
    setError(undefined)
    signIn({ token: token.trim() }).then(() => {
      setToken('')
      done()
    }, setError).finally(() => setBusy(false))
  }
  return (
    <Form onSubmit={submit}>
      {error && (
        <Alert isInline variant="danger" title={t('session.failed')} component="h2" role="alert">
          {statusOf(error) === 401
            ? <p>{t('session.tokenRejected')}</p>
            : <><p>{error.message}</p><Remedy remedy={error instanceof ProblemError ? error.problem.remedy : undefined} /></>}
        </Alert>
      )}
      <FormGroup label={t('session.token')} fieldId="token" isRequired>
        <TextInput
          id="token" type="password" autoComplete="off" spellCheck="false" value={token} isRequired
          validated={error ? 'error' : 'default'} aria-describedby="token-help" onChange={(_, value) => setToken(value)}
        />
        <FormHelperText>
          <HelperText id="token-help"><HelperTextItem>{t('session.tokenHelp')}</HelperTextItem></HelperText>
        </FormHelperText>
        <CommandLine command="kubectl create token NAME --duration=1h" />
      </FormGroup>
      <div><Button type="submit" isLoading={busy} isDisabled={busy}>{t('session.signIn')}</Button></div>
    </Form>
  )
}
