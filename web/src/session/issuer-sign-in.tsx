import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { signInWaysQuery } from './me.ts'

/**
 * The way to the OpenID Connect issuer, if the server has one. It leaves the page: the issuer has pages
 * of its own, and returns to the given one.
 */
export function IssuerSignIn({ from }: { from: string }) {
  const { t } = useTranslation()
  const { data } = useQuery(signInWaysQuery)
  if (!data?.issuer) return null
  return (
    <div className="refit-issuer-sign-in">
      <a href={`/api/v1alpha1/session/oidc?${new URLSearchParams({ from })}`} className="pf-v6-c-button pf-m-primary">
        <span className="pf-v6-c-button__text">{t('session.issuer', { issuer: hostOf(data.issuer) })}</span>
      </a>
      <p>{t('session.issuerOr')}</p>
    </div>
  )
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer
}
