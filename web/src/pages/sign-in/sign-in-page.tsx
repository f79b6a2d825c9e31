import { Alert, Spinner } from '@patternfly/react-core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useTranslation } from 'react-i18next'
import { Heading } from '../../components/heading.tsx'
import { codeSignIn } from '../../session/code-sign-in.ts'
import { IssuerSignIn } from '../../session/issuer-sign-in.tsx'
import { signInWaysQuery } from '../../session/me.ts'
import { SignInFailure } from '../../session/sign-in-failure.tsx'
import { TokenForm } from '../../session/token-form.tsx'
import { useStore } from '../../store.ts'
import { ThemeToggle } from '../../theme/theme-toggle.tsx'

/** The sign-in. It returns to the page that required it. */
export default function SignInPage() {
  const { t } = useTranslation()
  const code = useStore(codeSignIn)
  const { data: ways } = useQuery(signInWaysQuery)
  const navigate = useNavigate()
  const cache = useQueryClient()
  const { state, search } = useLocation()
  const query = new URLSearchParams(search)
  const from = pageBefore(state, query.get('from'))
  const proceed = () => {
    codeSignIn.set({ state: 'none' }) // a code that failed does not require another sign-in
    void cache.invalidateQueries()
    void navigate(from, { replace: true })
  }
  useEffect(() => {
    if (code.state !== 'succeeded') return
    codeSignIn.set({ state: 'none' })
    void navigate(from, { replace: true })
  }, [code, from, navigate])
  return (
    <main className="refit-sign-in">
      <div className="refit-row refit-sign-in-head"><b className="refit-brand">{t('product')}</b><ThemeToggle /></div>
      <Heading title={t('session.title')} />
      {code.state === 'pending'
        ? <p role="status"><Spinner size="md" aria-label={t('loading')} /> {t('session.codeUsed')}</p>
        : (
            <>
              <p>{ways?.code === false ? t('session.leadToken') : t('session.lead')}</p>
              {code.state === 'failed' && (
                <Alert isInline variant="warning" title={t('session.codeFailed')} component="h2" role="alert">
                  {code.reason && <p>{code.reason}</p>}<p>{t('session.codeFailedHelp')}</p>
                </Alert>
              )}
              <SignInFailure code={query.get('failed')} />
              <IssuerSignIn from={from} />
              <TokenForm done={proceed} />
            </>
          )}
    </main>
  )
}

/** Only an address of this application: the state of the history is not a redirect to elsewhere. */
function pageBefore(state: unknown, query: string | null): string {
  const from = typeof state === 'object' && state !== null && 'from' in state ? state.from : query
  return typeof from === 'string' && from.startsWith('/') && !from.startsWith('//') ? from : '/'
}
