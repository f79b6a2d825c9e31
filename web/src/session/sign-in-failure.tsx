import { Alert } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'

const known = ['sign-in-expired', 'sign-in-rejected', 'issuer-failed', 'unauthenticated', 'rate-limited', 'api-unreachable'] as const

/** Why the server sent the browser back from the issuer. The address has a code, and never a text. */
export function SignInFailure({ code }: { code: string | null }) {
  const { t } = useTranslation()
  if (code === null) return null
  const is = known.find((one) => one === code)
  return (
    <Alert isInline variant="warning" title={t('session.issuerFailed')} component="h2" role="alert">
      <p>{is === undefined ? t('session.failedFor.other') : t(`session.failedFor.${is}`)}</p>
    </Alert>
  )
}
