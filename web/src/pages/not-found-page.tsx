import { Link, useLocation } from 'react-router'
import { useTranslation } from 'react-i18next'
import { Heading } from '../components/heading.tsx'

export function NotFoundPage() {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  return (
    <>
      <Heading title={t('problem.notFoundTitle')} />
      <p className="refit-break">{t('problem.notFoundBody', { path: pathname })}</p>
      <p><Link to="/">{t('problem.toCluster')}</Link></p>
    </>
  )
}
